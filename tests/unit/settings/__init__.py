"""Values that are valid (`base.yaml`) and values that are not (`bad/`), with the messages expected."""
