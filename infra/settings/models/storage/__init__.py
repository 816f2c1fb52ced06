"""Storage classes, drivers and volumes."""
