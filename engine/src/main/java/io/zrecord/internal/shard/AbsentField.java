package io.zrecord.internal.shard;

/** A field that the shard lacks: absent in all its records. */
public record AbsentField() implements OpenField {}
