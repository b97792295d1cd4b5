package io.zrecord.internal.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProvidersTest {
  @TempDir
  Path directory;

  /** A service that a class loader of this test knows. */
  public interface Service {}

  /** Implements the service. */
  public static final class Implementation implements Service {}

  private List<Service> found(String... names) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.write(services.resolve(Service.class.getName()), List.of(names));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {directory.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      return Providers.of(Service.class);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void aProviderOfTheThreadsLoaderIsFoundOnce() throws IOException {
    String name = Implementation.class.getName();
    assertThat(found(name, name)).singleElement().isInstanceOf(Implementation.class);
  }

  @Test
  void aProviderThatCannotBeLoadedIsLeftOut() throws IOException {
    assertThat(found("no.such.Class", String.class.getName(), Implementation.class.getName()))
        .singleElement()
        .isInstanceOf(Implementation.class);
  }

  @Test
  void withoutAProviderTheMessageNamesTheStoreAndTheLibrary() {
    Storage storage = LocalStorage.at(directory);
    assertThatThrownBy(() -> Providers.ofStores(Service.class, storage, "check"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Cannot check " + directory
            + ": it is a store, and no library on the class path knows stores. Add zrecord-store");
  }
}
