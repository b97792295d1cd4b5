package io.zrecord.storage;

import java.util.Map;
import java.util.Set;

/**
 * Opens storages by the scheme of a URI. Implementations are found by
 * {@link java.util.ServiceLoader} and are thread-safe. Start with {@code io.zrecord.Storages}.
 */
public interface StorageProvider {

  /**
   * Returns the schemes that this provider opens, in lower case. An empty set means every scheme
   * that no other provider names.
   */
  Set<String> schemes();

  /**
   * Opens the storage at a location, which need not exist.
   *
   * @param location a URI that is not encoded, such as {@code s3://bucket/train}
   * @param options settings of the storage, by name; see the documentation of the provider
   * @throws IllegalArgumentException if the location or an option is not valid, or an option is not
   *     known; the message names the option and the allowed values
   * @throws io.zrecord.errors.StorageException if the storage cannot be reached
   */
  Storage open(String location, Map<String, String> options);
}
