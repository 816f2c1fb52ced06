"""What node pools hold, what of it teams and jobs can get, and what it costs; plain arithmetic on settings."""
