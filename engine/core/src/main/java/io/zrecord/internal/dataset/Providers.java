package io.zrecord.internal.dataset;

import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the implementations of services on the class path. Stateless. */
public final class Providers {
  private static final Logger LOG = LoggerFactory.getLogger(Providers.class);

  private Providers() {}

  /**
   * Returns the providers of a service that the thread's class loader and this class's own know. A
   * provider that cannot be loaded, such as one of another copy of these classes, is left out.
   */
  public static <P> List<P> of(Class<P> service) {
    Map<Class<?>, P> found = new LinkedHashMap<>();
    List<ServiceLoader<P>> loaders = List.of(
        ServiceLoader.load(service), ServiceLoader.load(service, Providers.class.getClassLoader()));
    for (ServiceLoader<P> loader : loaders) {
      Iterator<P> providers = loader.iterator();
      while (true) {
        try {
          if (!providers.hasNext()) {
            break;
          }
          P provider = providers.next();
          found.putIfAbsent(provider.getClass(), provider);
        } catch (ServiceConfigurationError e) {
          LOG.debug("A provider of {} cannot be loaded", service.getName(), e);
        }
      }
    }
    return new ArrayList<>(found.values());
  }

  /**
   * Returns the provider of a service for stores.
   *
   * @param store a storage whose root is a store
   * @param action what the caller is about to do, such as {@code "check"}, for the message
   * @throws IllegalArgumentException if the class path has no such provider
   */
  public static <P> P ofStores(Class<P> service, Storage store, String action) {
    List<P> found = of(service);
    if (found.isEmpty()) {
      throw new IllegalArgumentException("Cannot " + action + " " + store.location()
          + ": it is a store, and no library on the class path knows stores. Add zrecord-store");
    }
    return found.get(0);
  }
}
