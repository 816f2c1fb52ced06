"""Events: the broker, its topics or queues and who may use them, and the exporter that fills them."""
