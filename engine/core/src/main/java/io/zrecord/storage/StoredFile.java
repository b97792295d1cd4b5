package io.zrecord.storage;

/**
 * An entry of a directory.
 *
 * @param name last part of the entry's name
 * @param isDirectory whether the entry is a directory
 * @param lengthBytes length of a file; 0 for a directory
 * @param modifiedMillis Unix time of the last change
 */
public record StoredFile(String name, boolean isDirectory, long lengthBytes, long modifiedMillis) {}
