"""The Pulumi program: settings, the glue to Pulumi, and the components of the platform."""
