package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;

/** Makes the exception for bytes whose checksum is wrong. */
interface Mismatch {
  CorruptDataException of(String path, String what, int expected, int found);
}
