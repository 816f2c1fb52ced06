"""Database servers: those of others, and clusters that operators run here."""
