"""Storage: classes, CSI drivers, snapshots and the Ceph cluster behind some of them."""
