"""The settings' shape: one file per section."""
