"""Words of storage: access modes, mount options, and how clouds call what they store on."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from infra.settings.scalars import Text

AccessMode: TypeAlias = Literal["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"]
"""Who may mount a volume at a time: one node, many, many that only read, or one pod."""

ReclaimPolicy: TypeAlias = Literal["Retain", "Delete"]
BindingMode: TypeAlias = Literal["Immediate", "WaitForFirstConsumer"]
BlockFileSystem: TypeAlias = Literal["ext4", "xfs"]

MountOption = Annotated[
    str,
    Text(
        r"[-A-Za-z0-9][-A-Za-z0-9_./:=@+, ]*",
        253,
        "mount option",
        "Write one as the driver's documentation does, such as nconnect=4",
    ),
]
"""One option of a mount; some drivers' options have a value after a space."""

PathPattern = Annotated[
    str,
    Text(r"[-A-Za-z0-9_./${}]+", 512, "path pattern", "Write one such as ${.PVC.namespace}/${.PVC.name}"),
]
"""Path below a share, with the driver's own placeholders."""

SubnetId = Annotated[str, Text(r"subnet-[0-9a-f]{8,17}", 24, "subnet id", "Write one such as subnet-0123456789abcdef0")]
"""Id of a VPC's subnet."""

SecurityGroupId = Annotated[
    str, Text(r"sg-[0-9a-f]{8,17}", 20, "security group id", "Write one such as sg-0123456789abcdef0")
]
"""Id of a VPC's security group."""

KmsKeyArn = Annotated[
    str,
    Text(
        r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[-0-9A-Za-z]+",
        2048,
        "KMS key ARN",
        "Write one such as arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    ),
]
"""ARN of an AWS KMS key."""

RoleArn = Annotated[
    str,
    Text(
        r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[-A-Za-z0-9_+=,.@/]+",
        2048,
        "role ARN",
        "Write one such as arn:aws:iam::111122223333:role/flotilla-storage",
    ),
]
"""ARN of an AWS IAM role."""

S3Uri = Annotated[str, Text(r"s3://[a-z0-9][-a-z0-9.]+(/[^\s]*)?", 900, "S3 address", "Write s3://bucket/prefix")]
"""Bucket and prefix."""

BucketName = Annotated[
    str,
    Text(
        r"[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]",
        63,
        "bucket name",
        "Write 3 to 63 lower-case letters, digits, '-' and '.'",
    ),
]
"""Name of a bucket; those of S3 and GCS are shared by all their customers."""

KeyPrefix = Annotated[
    str,
    Text(
        r"([A-Za-z0-9!_.*'()-]+/)+", 512, "key prefix", "End it with '/', without a leading '/', such as vision/data/"
    ),
]
"""First part of the keys in a bucket, up to and with a `/`."""

FsxId = Annotated[str, Text(r"fs-[0-9a-f]{8,40}", 43, "file system id", "Write one such as fs-0123456789abcdef0")]
"""Id of an FSx file system."""

AccessPointId = Annotated[
    str, Text(r"fsap-[0-9a-f]{8,40}", 45, "access point id", "Write one such as fsap-0123456789abcdef0")
]
"""Id of an EFS access point."""

AzureName = Annotated[
    str,
    Text(
        r"[A-Za-z0-9]([-A-Za-z0-9_.()]*[A-Za-z0-9_()])?",
        90,
        "Azure name",
        "Write the resource's name as Azure shows it",
    ),
]
"""Name of a resource group or virtual network."""

StorageAccount = Annotated[
    str, Text(r"[a-z0-9]{3,24}", 24, "storage account", "Write 3 to 24 lower-case letters and digits")
]
"""Name of an Azure storage account."""

ContainerName = Annotated[
    str, Text(r"[a-z0-9](-?[a-z0-9]){2,62}", 63, "container name", "Write 3 to 63 lower-case letters, digits and '-'")
]
"""Name of an Azure blob container or file share."""

CloudPath = Annotated[
    str,
    Text(
        r"[A-Za-z0-9]([-A-Za-z0-9_./:]*[A-Za-z0-9])?", 512, "resource name", "Write it as the cloud's console shows it"
    ),
]
"""Name of a cloud's resource, with its parents."""

HttpUrl = Annotated[
    str,
    Text(
        r"https?://[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]{1,5})?",
        300,
        "address of a server",
        "Write one such as https://s3.example.com:9000, without a path",
    ),
]
"""Scheme, host and port of a server."""
