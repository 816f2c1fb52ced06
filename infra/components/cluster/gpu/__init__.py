"""What makes accelerators schedulable, labelled and measured."""
