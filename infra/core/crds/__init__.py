"""CRD bundles: schemas pinned by digest, fetched from their makers' modules, applied beside the engine."""
