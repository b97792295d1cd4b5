package io.zrecord.internal.store;

/** A field that the shard does not have: absent in all its records. */
record AbsentField() implements OpenField {}
