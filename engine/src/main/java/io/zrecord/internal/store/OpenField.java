package io.zrecord.internal.store;

/** A field of an open shard: knows where values are and which were verified. Thread-safe. */
sealed interface OpenField permits EntryField, DenseField, AbsentField {}
