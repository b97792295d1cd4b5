package io.zrecord.internal.shard;

/** A field of an open shard: knows where values are and which values were verified. Thread-safe. */
public sealed interface OpenField permits EntryField, DenseField, AbsentField {}
