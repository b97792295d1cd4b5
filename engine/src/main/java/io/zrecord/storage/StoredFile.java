package io.zrecord.storage;

/**
 * An entry of a directory.
 *
 * @param name its last part
 * @param isDirectory whether it is a directory
 * @param lengthBytes length of a file; 0 for a directory
 * @param modifiedMillis Unix time of its last change
 */
public record StoredFile(String name, boolean isDirectory, long lengthBytes, long modifiedMillis) {}
