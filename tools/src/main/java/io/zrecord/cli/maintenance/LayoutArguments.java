package io.zrecord.cli.maintenance;

import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import picocli.CommandLine.Option;

/** The options for the layout of new shards. Belongs to one thread. */
public final class LayoutArguments {
  private static final WriteOptions DEFAULTS = WriteOptions.defaults();

  @Option(
      names = {"--chunk-bytes", "--target-chunk-bytes"},
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description = "size of new chunks (default 256m)")
  private long chunkBytes = DEFAULTS.chunkBytes();

  @Option(
      names = "--stripe-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description = "bytes of values held before they are written; bounds the memory of a thread "
          + "(default 32m)")
  private long stripeBytes = DEFAULTS.stripeBytes();

  @Option(
      names = "--align-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description =
          "size from which raw values begin at a multiple of it in their file: 64 for SIMD, "
              + "4k for pages and direct I/O; a power of two (default 8). Values of a fixed width "
              + "follow each other: each is aligned if the width is a multiple")
  private long alignBytes = DEFAULTS.alignBytes();

  @Option(
      names = "--block-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description =
          "bytes up to which short values of a field are compressed together (default 64k); "
              + "0: one by one")
  private long blockBytes = DEFAULTS.blockBytes();

  @Option(
      names = "--transform",
      paramLabel = "NAME",
      description = "arrangement of numbers before they are compressed together: auto, none, "
          + "transpose or delta (default auto)")
  private Transform transform = DEFAULTS.transform();

  /**
   * Returns the layout that the options ask for.
   *
   * @throws IllegalArgumentException if an argument is out of its range
   */
  public WriteOptions options() {
    return DEFAULTS
        .withChunkBytes(chunkBytes)
        .withStripeBytes(stripeBytes)
        .withAlignBytes(alignBytes)
        .withBlockBytes(blockBytes)
        .withTransform(transform);
  }
}
