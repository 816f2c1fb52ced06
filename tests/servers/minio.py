"""MinIO, as a server that speaks S3."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3
from minio import Minio, MinioAdmin
from minio.credentials.providers import StaticProvider
from minio.error import MinioException

from tests.servers.catalog import MINIO
from tests.servers.install import Compiled, clean_environment
from tests.servers.process import HOST, Login, ServerProcess, free_port, new_password
from tests.servers.server import SingleServer

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

PROGRAM = Compiled(module=MINIO)

_TIMEOUT_SECONDS = 30.0


class MinIo(SingleServer):
    """One MinIO server.

    Args:
        folder: a folder that nothing else uses.
        tls: certificate it serves HTTPS with; without one it serves HTTP.
        region: what it calls its region.
        settings: environment variables of MinIO.
    """

    log_name = "minio.log"

    def __init__(
        self,
        folder: Path,
        *,
        tls: Certificate | None = None,
        region: str = "us-east-1",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.admin = Login("admin", new_password())
        self.tls = tls
        self.region = region
        program = PROGRAM.ensure() / "minio"
        environment = clean_environment(
            HOME=str(folder),
            MINIO_ROOT_USER=self.admin.user,
            MINIO_ROOT_PASSWORD=self.admin.password,
            MINIO_REGION=region,
            MINIO_BROWSER="off",
            MINIO_UPDATE="off",
            MINIO_CI_CD="1",
            **(settings or {}),
        )
        self._certificates = folder / "certificates"
        self._process = ServerProcess(
            [
                *(str(program), "server", str(folder / "data"), "--address", f"{HOST}:{self.port}"),
                *("--certs-dir", str(self._certificates)),
            ],
            log=self.log,
            folder=folder,
            environment=environment,
        )

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"{'https' if self.tls else 'http'}://{HOST}:{self.port}"

    def start(self) -> None:
        """Start it, with the data it had."""
        (self._certificates / "CAs").mkdir(parents=True, exist_ok=True)
        if self.tls:
            shutil.copyfile(self.tls.path, self._certificates / "public.crt")
            shutil.copyfile(self.tls.key, self._certificates / "private.key")
        self._process.start()
        self._process.wait_ready(self._answers)

    def client(self, login: Login | None = None) -> Minio:
        """Return an S3 client of a user, or of the administrator."""
        who = login or self.admin
        return Minio(
            f"{HOST}:{self.port}",
            access_key=who.user,
            secret_key=who.password,
            secure=self.tls is not None,
            region=self.region,
            http_client=self._pool(),
        )

    def admin_client(self) -> MinioAdmin:
        """Return a client for administration."""
        return MinioAdmin(
            endpoint=f"{HOST}:{self.port}",
            credentials=StaticProvider(self.admin.user, self.admin.password),
            region=self.region,
            secure=self.tls is not None,
            http_client=self._pool(),
        )

    def create_bucket(self, name: str) -> None:
        """Create a bucket."""
        self.client().make_bucket(name)

    def create_user(self, name: str, password: str | None = None, *, policy: Mapping[str, Any] | None = None) -> Login:
        """Create a user whose rights are what an IAM policy says; without one the user has none."""
        login = Login(name, password or new_password())
        client = self.admin_client()
        client.user_add(name, login.password)
        if policy:
            client.policy_add(name, policy=dict(policy))
            client.policy_set(name, user=name)
        return login

    def set_bucket_policy(self, bucket: str, policy: Mapping[str, Any]) -> None:
        """Set what everybody may do with a bucket, as an S3 bucket policy."""
        self.client().set_bucket_policy(bucket, json.dumps(policy))

    def _pool(self) -> urllib3.PoolManager:
        trusted = str(self.tls.authority) if self.tls else None
        return urllib3.PoolManager(timeout=_TIMEOUT_SECONDS, retries=False, ca_certs=trusted)

    def _answers(self) -> bool:
        """Tell whether it takes requests: its health page says ready before its users and buckets are read."""
        unverified = urllib3.PoolManager(timeout=_TIMEOUT_SECONDS, retries=False, cert_reqs="CERT_NONE")
        client = Minio(
            f"{HOST}:{self.port}",
            access_key=self.admin.user,
            secret_key=self.admin.password,
            secure=self.tls is not None,
            region=self.region,
            http_client=unverified,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
                client.list_buckets()
        except (MinioException, urllib3.exceptions.HTTPError):
            return False
        return True
