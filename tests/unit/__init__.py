"""Fast tests of single modules, without network or cluster."""
