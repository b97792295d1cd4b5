package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageProvider;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HadoopStorageProviderTest {
  @TempDir
  Path directory;

  /** A file system whose files are those of the directory. */
  private Map<String, String> options(String publish) {
    return Map.of(
        "fs.viewfs.mounttable.tables.link./data",
        "file://" + directory,
        "zrecord.publish",
        publish);
  }

  @Test
  void aSchemeThatHadoopKnowsIsOpenedWithItsSettings() {
    Storage storage = Storages.at("viewfs://tables/data", options("create"));
    assertThat(storage).isInstanceOf(HadoopStorage.class);
    assertThat(storage.publish("m/0.json", "a".getBytes(UTF_8))).isTrue();
    assertThat(storage.publish("m/0.json", "b".getBytes(UTF_8))).isFalse();
    assertThat(directory.resolve("m/0.json")).hasContent("a");
  }

  @Test
  void optionsOfOneStorageDoNotCountForAnother() {
    assertThat(Storages.at("viewfs://tables/data", options("create")).exists(""))
        .isTrue();
    Storage other = Storages.at(
        "viewfs://tables/data",
        Map.of("fs.viewfs.mounttable.tables.link./other", "file://" + directory));
    assertThat(other.exists("")).isFalse();
  }

  @Test
  void anOptionThatIsNoSettingIsRefused() {
    for (String name : List.of("endpoint", "zrecord.publishing", "")) {
      assertThatThrownBy(() -> Storages.at("viewfs://tables/data", Map.of(name, "x")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + name + "'")
          .hasMessageContaining("zrecord.publish");
    }
  }

  @Test
  void aFileSystemWhoseLibraryIsMissingIsRefused() {
    assertThatThrownBy(() ->
            Storages.at("nolib://host/x", Map.of("fs.nolib.impl", "com.example.NoFileSystem")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("com.example.NoFileSystem")
        .hasMessageContaining("class path");
  }

  /** What a program has that has this module, but not Hadoop. */
  @Test
  void withoutHadoopOtherProvidersGoOnAndThisOneSaysWhatIsMissing() throws Exception {
    URL[] withoutHadoop = Arrays.stream(
            System.getProperty("java.class.path").split(java.io.File.pathSeparator))
        .filter(path -> !path.contains("hadoop-client"))
        .map(HadoopStorageProviderTest::url)
        .toArray(URL[]::new);
    try (URLClassLoader loader =
        new URLClassLoader(withoutHadoop, ClassLoader.getPlatformClassLoader())) {
      Class<?> type = loader.loadClass(StorageProvider.class.getName());
      Object provider =
          ServiceLoader.load(type, loader).stream().toList().get(0).get();
      assertThat(type.getMethod("schemes").invoke(provider)).isEqualTo(java.util.Set.of());
      assertThatThrownBy(() -> type.getMethod("open", String.class, Map.class)
              .invoke(provider, "hdfs://host/x", Map.of()))
          .cause()
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Hadoop is not on the class path");
    }
  }

  private static URL url(String path) {
    try {
      return Path.of(path).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
