package io.zrecord.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.RecordDataset;
import io.zrecord.arrow.ArrowStream;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.feed.BadRecordPolicy;
import io.zrecord.feed.Collation;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedBuilder;
import io.zrecord.feed.FeedGroup;
import io.zrecord.feed.FeedState;
import io.zrecord.feed.FeedStatistics;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.sampler.Sampler;
import io.zrecord.schema.FieldSpec;
import io.zrecord.sharing.SharedBatches;
import io.zrecord.sharing.SharedFile;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.GatheringByteChannel;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Streams training batches to another process. */
@Command(
    name = "feed",
    description = "Streams batches of records in the order of a sampler, loaded ahead, as an Arrow"
        + " stream of record batches. Each batch carries the state to resume after it, as metadata"
        + " 'zrecord.next'.")
final class FeedCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--field",
      paramLabel = "F",
      description = "a field to feed; may be repeated (default: all)")
  private List<String> fieldNames = List.of();

  @Option(
      names = "--drop-remainder",
      description = "leave out the last batch of an epoch if it is shorter")
  private boolean dropsRemainder;

  @Option(
      names = "--epochs",
      paramLabel = "E",
      description = "number of epochs, from --epoch on; 0: no end (default: ${DEFAULT-VALUE})")
  private long epochs = 1;

  @Option(
      names = "--stop-before-batch",
      paramLabel = "N",
      description = "number of the batch to end before, counted from 0 from the very beginning, "
          + "whatever the epoch")
  private @Nullable Long stopBeforeBatch;

  @Mixin
  private SamplerFlags order = new SamplerFlags();

  @Option(
      names = "--depth",
      paramLabel = "N",
      description = "batches in memory at a time (default: ${DEFAULT-VALUE})")
  private int depth = 4;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "number of loader threads; the order does not depend on it (default: "
          + "${DEFAULT-VALUE})")
  private int threads = 2;

  @Option(
      names = "--loader-priority",
      paramLabel = "P",
      description = "priority of the loader threads, 1 to 10; many systems ignore it (default: 5)")
  private @Nullable Integer loaderPriority;

  @Option(
      names = "--max-bytes",
      paramLabel = "N",
      description = "bytes in batches in memory at a time (default: no bound)")
  private @Nullable Long maxBytes;

  @Option(
      names = "--as-completed",
      description = "deliver the batch that is ready first, not in the order of the sampler")
  private boolean isAsCompleted;

  @Option(
      names = "--resume",
      paramLabel = "STATE",
      description = "JSON that came with the last batch that was used: the feed begins after it, "
          + "whatever --epoch and --start-position say")
  private @Nullable String state;

  @Option(names = "--version", paramLabel = "V", description = "version of a table")
  private @Nullable Long version;

  @Option(
      names = "--verify",
      paramLabel = "WHEN",
      description = "moments at which the checksum of a value is compared: first (touch, the "
          + "default), always or never")
  private Verification verification = Verification.FIRST;

  @Option(
      names = "--pad",
      paramLabel = "F=LENGTH",
      description = "length that values of a field get by zeros: F=longest (of the batch), F=N (a "
          + "longer value is an error) or F=cut:N (a longer value is cut); may be repeated")
  private Map<String, String> pads = Map.of();

  @Option(
      names = "--bad-records",
      paramLabel = "WHAT",
      description = "treatment of damaged records: fail (default), drop_batch, skip_record, or "
          + "substitute, which takes another record of the batch")
  private BadRecordPolicy badRecords = BadRecordPolicy.FAIL;

  @Option(
      names = "--socket",
      paramLabel = "PATH",
      description = "Unix socket to stream to, on which the reader listens (default: the standard "
          + "output)")
  private @Nullable Path socket;

  @Option(names = "--progress", description = "show on the standard error how far it is")
  private boolean showsProgress;

  @Option(
      names = "--share",
      paramLabel = "FILE",
      description = "file for the values, which is emptied first; releases come by the standard "
          + "input: for a parent process, such as the Python package; see "
          + "io.zrecord.sharing.SharedBatches")
  private @Nullable Path share;

  @Option(
      names = "--messages",
      paramLabel = "FILE",
      description = "pipe for the messages of --share")
  private @Nullable Path messages;

  @Override
  public Integer call() throws IOException {
    if ((share == null) != (messages == null) || (share != null && socket != null)) {
      throw misuse("--share FILE and --messages FILE go together, and without --socket");
    }
    if (epochs < 0) {
      throw misuse("--epochs is " + epochs + "; say a number of epochs, or 0 for no end");
    }
    try (RecordDataset dataset = open()) {
      FeedGroup group = order.group(dataset);
      if (!fieldNames.isEmpty()) {
        group.fields(fieldNames.toArray(new String[0]));
      }
      if (dropsRemainder) {
        group.dropRemainder();
      }
      pads.forEach((field, pad) -> group.collate(field, collation(field, pad)));
      FeedBuilder builder = builder(group);
      if (share != null && messages != null) {
        share(share, messages, builder, dataset);
      } else {
        stream(builder, dataset);
      }
    }
    return ExitCodes.DONE;
  }

  private FeedBuilder builder(FeedGroup group) {
    long endless = Long.MAX_VALUE - order.epoch();
    FeedBuilder builder = Feed.of(group)
        .rank(order.rank(), order.worldSize(), order.remainder())
        .depth(depth)
        .loaderThreads(threads)
        .badRecords(badRecords)
        // Readers set their own timeouts.
        .timeout(ChronoUnit.FOREVER.getDuration())
        .stopBeforeEpoch(order.epoch() + (epochs == 0 ? endless : Math.min(epochs, endless)));
    if (stopBeforeBatch != null) {
      builder.stopBeforeBatch(stopBeforeBatch);
    }
    if (maxBytes != null) {
      builder.maxBytes(maxBytes);
    }
    if (loaderPriority != null) {
      builder.loaderPriority(loaderPriority);
    }
    if (isAsCompleted) {
      builder.asCompleted();
    }
    return state == null
        ? builder.startAtPosition(order.epoch(), order.startPosition())
        : builder.resume(FeedState.fromJson(state));
  }

  private Collation collation(String field, String pad) {
    try {
      return switch (pad) {
        case "longest" -> Collation.padToLongest();
        default ->
          pad.startsWith("cut:")
              ? Collation.cutOrPadTo(Integer.parseInt(pad.substring(4)))
              : Collation.padTo(Integer.parseInt(pad));
      };
    } catch (NumberFormatException e) {
      throw misuse("--pad " + field + "=" + pad + ": say longest, a length, or cut: and a length");
    }
  }

  private void stream(FeedBuilder builder, RecordDataset dataset) throws IOException {
    // A feed that cannot start leaves the output unopened; an opened output is closed in the end.
    try (Feed feed = builder.start();
        Progress progress = Progress.of("feed", err(), showsProgress);
        GatheringByteChannel out =
            socket == null ? LocalChannels.standardOutput() : LocalChannels.connect(socket)) {
      Map<String, String> metadata = new TreeMap<>();
      header(dataset, feed)
          .fields()
          .forEachRemaining(
              member -> metadata.put("zrecord." + member.getKey(), text(member.getValue())));
      try {
        ArrowStream arrow = new ArrowStream(out, fields(dataset), pads.keySet(), metadata);
        for (FeedBatch batch : feed) {
          try (batch) {
            arrow.write(batch);
          }
          if (showsProgress) {
            show(progress, feed, batchesInAll(feed));
          }
        }
        arrow.end();
      } catch (IOException e) {
        // A reader that needs no more batches leaves without notice.
        if (!LocalChannels.isReaderGone(e)) {
          throw e;
        }
      }
    }
  }

  /** Returns the number of batches of all epochs; 0 if there is no end. */
  private long batchesInAll(Feed feed) {
    long perEpoch = feed.batchesPerEpoch();
    boolean isEndless = epochs == 0 || perEpoch == Sampler.ENDLESS;
    return isEndless ? 0 : Math.multiplyExact(perEpoch, epochs);
  }

  private static void show(Progress progress, Feed feed, long batchesInAll) {
    FeedStatistics statistics = feed.statistics();
    double bytesPerBatch = (double) statistics.bytes() / statistics.batches();
    progress.at(statistics.bytes(), (long) (batchesInAll * bytesPerBatch));
  }

  private static String text(JsonNode value) {
    return value.isTextual() ? value.textValue() : value.toString();
  }

  private void share(Path memory, Path pipe, FeedBuilder builder, RecordDataset dataset)
      throws IOException {
    try (FileOutputStream out = new FileOutputStream(pipe.toFile())) {
      SharedBatches batches = new SharedBatches(
          SharedFile.open(memory), depth, out, new FileInputStream(FileDescriptor.in));
      try (Feed feed =
          builder.memory(batches.memory()).onBadBatch(batches.onBadBatch()).start()) {
        batches.send(
            feed,
            fields(dataset),
            ValueJson.MAPPER.writeValueAsString(sharedHeader(dataset, feed)),
            () -> Runtime.getRuntime().halt(ExitCodes.DONE));
      }
    }
  }

  private List<FieldSpec> fields(RecordDataset dataset) {
    return fieldNames.isEmpty()
        ? dataset.schema().fields()
        : fieldNames.stream()
            .map(name -> dataset.schema().fields().get(dataset.schema().ordinal(name)))
            .toList();
  }

  private ObjectNode sharedHeader(RecordDataset dataset, Feed feed) {
    OptionalLong last = feed.lastBatch();
    return header(dataset, feed)
        .put("protocol", 2)
        .put("epoch", feed.firstEpoch())
        .put("batchesLeft", feed.batchesOfFirstEpoch())
        .put("firstBatch", feed.firstBatch())
        .put("lastBatch", last.isPresent() ? last.getAsLong() : null);
  }

  private ObjectNode header(RecordDataset dataset, Feed feed) {
    ObjectNode header = ValueJson.MAPPER.createObjectNode();
    header.put("length", dataset.length());
    header.put("version", dataset.version().isPresent() ? dataset.version().getAsLong() : null);
    header.put(
        "batchesPerEpoch",
        feed.batchesPerEpoch() == Sampler.ENDLESS ? null : feed.batchesPerEpoch());
    SamplerSpec spec = order.spec();
    header.put("sampler", spec.name().toString()).put("seed", spec.seed());
    header.put("state", feed.lastCompleted().toJson());
    ArrayNode list = header.putArray("fields");
    for (FieldSpec field : fields(dataset)) {
      ObjectNode node = list.addObject();
      node.put("name", field.name()).put("dtype", field.type().toString());
      ArrayNode shape = node.putArray("shape");
      field.shape().dimensions().forEach(shape::add);
    }
    return header;
  }

  private RecordDataset open() {
    RecordDataset.ReadOptions options =
        new RecordDataset.ReadOptions(verification, new ReadMetrics());
    Storage storage = path.storage();
    return version == null
        ? RecordDataset.open(storage, options)
        : RecordDataset.open(RecordTable.at(storage).version(version), options);
  }
}
