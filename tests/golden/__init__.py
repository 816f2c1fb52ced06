"""What every environment declares, kept so that a review shows each manifest that changes."""
