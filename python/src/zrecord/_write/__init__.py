"""Writing of tables and care for them, by the engine in a process of its own.

``api`` and ``care`` have what users call; ``engine`` has the process, of which ``memory`` is shared;
``batches``, ``types`` and ``columns`` make columns of what is written.
"""
