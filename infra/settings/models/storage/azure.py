"""Storage classes on Azure: Files and Blob."""

from __future__ import annotations

from typing import ClassVar, Literal

from infra.settings.models.storage.common import ALL_MODES, StorageClass
from infra.settings.models.storage.scalars import AccessMode, AzureName, MountOption, StorageAccount


class AzureClass(StorageClass):
    """What classes on Azure storage accounts have in common."""

    storage_account: StorageAccount | None = None
    """Existing account that volumes are made in; the driver finds or makes one when left out."""

    resource_group: AzureName | None = None
    """Resource group of the account; the nodes' when left out."""

    private_endpoint: bool = True
    """Whether accounts that the driver makes are reached only from the nodes' network."""


class AzureFiles(AzureClass):
    """Azure Files by NFS: a premium file share per volume, with locks and permissions as training expects."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES
    snapshots: ClassVar[bool] = True

    driver: Literal["azure-files"]
    """Azure Files by its CSI driver, which AKS brings."""

    sku: Literal["Premium_LRS", "Premium_ZRS"] = "Premium_ZRS"
    """Redundancy of the account. NFS needs premium; `Premium_ZRS` survives the loss of a zone."""

    mount_options: tuple[MountOption, ...] = ("nconnect=4", "noresvport", "actimeo=30")
    """Options of the mount, in order."""


class AzureBlob(AzureClass):
    """Azure Blob: a container per volume, for data sets and checkpoints written as whole files."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES

    driver: Literal["azure-blob"]
    """Azure Blob by its CSI driver, which AKS brings."""

    protocol: Literal["fuse2", "nfs"] = "fuse2"
    """How nodes reach it: blobfuse, which caches on the node, or NFS 3, which needs a hierarchical account."""

    sku: Literal["Standard_LRS", "Standard_ZRS", "Standard_GRS", "Premium_LRS", "Premium_ZRS"] = "Premium_ZRS"
    """Redundancy of the account; `ZRS` survives the loss of a zone."""
