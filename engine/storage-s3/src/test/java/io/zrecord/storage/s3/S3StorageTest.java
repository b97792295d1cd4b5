package io.zrecord.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Storages;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.S3Server;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract of storages on a server that speaks S3, and what only such storages do. */
final class S3StorageTest extends StorageContractTest {
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess(Path.of(System.getProperty("zrecord.test.s3proxy")));
    System.setProperty("aws.accessKeyId", server.accessKey());
    System.setProperty("aws.secretAccessKey", server.secretKey());
  }

  @AfterAll
  static void stop() {
    System.clearProperty("aws.accessKeyId");
    System.clearProperty("aws.secretAccessKey");
  }

  /** S3Proxy over files answers with an error of its own, where S3 says that there is nothing. */
  @Override
  protected void belowAFileIsNothing() {}

  @Override
  protected Storage emptyStorage() {
    return at("data of " + UUID.randomUUID() + "/größer 100%");
  }

  private static Storage at(String prefix) {
    return Storages.at(
        "s3://" + server.bucket() + "/" + prefix, Map.of("endpoint", server.endpoint()));
  }

  @Test
  void aLocationIsWhatTheUserWrote() {
    assertThat(at("a b/c").location()).isEqualTo("s3://" + server.bucket() + "/a b/c");
    assertThat(at("a b/c/").pathOf("d")).isEqualTo("s3://" + server.bucket() + "/a b/c/d");
  }

  @Test
  void anObjectOfSeveralPartsIsWhole() {
    byte[] content = new byte[2 * S3WritableFile.PART_BYTES + 12_345];
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) (i * 31 + (i >> 16));
    }
    try (WritableFile file = storage.create("d/large")) {
      for (int from = 0; from < content.length; from += 1 << 22) {
        file.write(ByteBuffer.wrap(content, from, Math.min(1 << 22, content.length - from)));
      }
      assertThat(storage.exists("d/large")).as("visible before its end").isFalse();
      assertThat(file.positionBytes()).isEqualTo(content.length);
      file.finish();
    }
    try (ReadableFile file = storage.open("d/large")) {
      assertThat(file.lengthBytes()).isEqualTo(content.length);
      ByteBuffer region = file.region(S3WritableFile.PART_BYTES - 5, 10);
      for (int i = 0; i < 10; i++) {
        assertThat(region.get(i)).isEqualTo(content[S3WritableFile.PART_BYTES - 5 + i]);
      }
    }
    assertThat(storage.read("d/large", content.length)).isEqualTo(content);
  }

  @Test
  void anObjectOfWholePartsOnlyIsWhole() {
    byte[] content = new byte[2 * S3WritableFile.PART_BYTES];
    content[content.length - 1] = 7;
    try (WritableFile file = storage.create("d/even")) {
      file.write(ByteBuffer.wrap(content));
      file.finish();
    }
    assertThat(storage.read("d/even", content.length)).isEqualTo(content);
  }

  @Test
  void aFileThatIsGivenUpIsNotThere() {
    try (WritableFile small = storage.create("d/small");
        WritableFile large = storage.create("d/large")) {
      small.write(ByteBuffer.wrap(new byte[100]));
      large.write(ByteBuffer.wrap(new byte[S3WritableFile.PART_BYTES + 1]));
    }
    assertThat(storage.exists("d")).isFalse();
    assertThat(storage.listTree("")).isEmpty();
  }

  @Test
  void deletingADirectoryLeavesItsNeighbours() {
    write("d/f", "x");
    write("d.txt", "x");
    write("d0/f", "x");
    storage.delete("d");
    assertThat(storage.listTree(""))
        .extracting(StoredFile::name)
        .containsExactlyInAnyOrder("d.txt", "d0/f");
  }

  @Test
  void moreFilesThanAPageAreListedAndDeleted() {
    List<String> names =
        IntStream.range(0, 1_003).mapToObj(i -> "p/" + i % 3 + "/" + i).toList();
    names.parallelStream().forEach(name -> storage.replace(name, new byte[] {1}));
    write("q", "x");
    assertThat(storage.list("p"))
        .extracting(StoredFile::isDirectory)
        .containsOnly(true)
        .hasSize(3);
    assertThat(storage.listTree("p"))
        .extracting(file -> "p/" + file.name())
        .containsExactlyInAnyOrderElementsOf(names);
    storage.deleteAll(names.subList(0, 1_002));
    assertThat(storage.listTree(""))
        .extracting(StoredFile::name)
        .containsExactlyInAnyOrder(names.get(1_002), "q");
    storage.deleteAll(names);
    assertThat(storage.listTree("")).extracting(StoredFile::name).containsExactly("q");
  }

  @Test
  void theProbeOfConditionsLeavesNothing() {
    assertThat(storage.publish("manifest/0.json", new byte[1])).isTrue();
    assertThat(storage.listTree(""))
        .extracting(StoredFile::name)
        .containsExactly("manifest/0.json");
  }
}
