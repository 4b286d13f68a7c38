"""What is told of requests: health, metrics, figures over time, spans."""
