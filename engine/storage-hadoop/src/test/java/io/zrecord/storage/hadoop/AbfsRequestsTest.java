package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The requests that reads and lists take with ABFS. */
final class AbfsRequestsTest {
  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  private Storage storage;

  @BeforeEach
  void open() {
    storage = azure.storage("data");
  }

  private List<String> requestsOf(Runnable call) {
    azure.proxy().heal();
    call.run();
    return azure.proxy().requests().stream()
        .map(request -> (request.method() + " " + request.range()).strip())
        .toList();
  }

  @Test
  void aRegionIsReadWithoutBytesBesideIt() {
    storage.publish("f", new byte[1 << 20]);
    try (ReadableFile file = storage.open("f", 1 << 20)) {
      assertThat(requestsOf(() -> file.region(100_000, 5000)))
          .containsExactly("HEAD", "GET bytes=100000-104999");
      assertThat(azure.proxy().responseBytes()).isEqualTo(5000);
      assertThat(requestsOf(() -> file.region(900_000, 7)))
          .containsExactly("GET bytes=900000-900006");
    }
    assertThatThrownBy(() -> storage.open("f", 2 << 20).region(3 << 19, 10))
        .isInstanceOf(TruncatedFileException.class)
        .hasMessageContaining("bytes 1572864 to 1572874");
  }

  /** ABFS of Hadoop 3.3.4 does not notice. */
  @Test
  void aFileThatIsReplacedBetweenTwoReadsIsFound() {
    storage.publish("f", new byte[100]);
    try (ReadableFile file = storage.open("f", 100)) {
      file.region(20, 10);
      storage.replace("f", new byte[100]);
      assertThatThrownBy(() -> file.region(30, 10))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("bytes 30 to 40 of abfs://")
          .hasMessageContaining("another file has that name now");
      // It may be the copy that was asked for.
      assertThat(file.region(30, 10).remaining()).isEqualTo(10);
    }
  }

  @Test
  void aSmallFileIsReadWithTwoRequests() {
    storage.publish("f", new byte[5000]);
    assertThat(requestsOf(() -> assertThat(storage.read("f", 1 << 20)).hasSize(5000)))
        .hasSize(2)
        .first()
        .isEqualTo("HEAD");
    assertThat(azure.proxy().responseBytes()).isEqualTo(5000);
  }

  @Test
  void listsAndDeletionsGoOnFromPageToPage() {
    List<String> names =
        IntStream.range(0, 23).mapToObj(i -> "d/" + i % 3 + "/" + i).toList();
    names.forEach(name -> storage.publish(name, new byte[7]));
    assertThat(storage.listTree("d"))
        .extracting(StoredFile::name)
        .containsExactlyInAnyOrderElementsOf(
            names.stream().map(name -> name.substring(2)).toList());
    assertThat(storage.list("d/0")).hasSize(8).allMatch(file -> file.lengthBytes() == 7);
    storage.deleteAll(names.subList(0, 3));
    assertThat(storage.listTree("")).hasSize(20);
    storage.delete("d");
    assertThat(storage.exists("d")).isFalse();
    assertThat(storage.listTree("")).isEmpty();
  }
}
