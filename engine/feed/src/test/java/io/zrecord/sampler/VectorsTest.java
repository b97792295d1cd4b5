package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The vectors of docs/spec/SAMPLERS.md, which its Python printed: an order never changes within a
 * version of that page.
 */
class VectorsTest {
  private static final Path SPECIFICATION = Repository.path("docs/spec/SAMPLERS.md");
  private static final Pattern VECTOR = Pattern.compile("\\| `(.*)` \\| ([0-9, ]+) \\|");
  private static final int[] LABELS = {5, 5, -1, 5, 5, -1, 5, 5, 5, -1, 5, 5};

  private final Map<String, long[]> ours = new HashMap<>();

  @Test
  void theVectorsAreThoseOfTheSpecification() throws IOException {
    add("random(10, 42), epoch 0", Samplers.random(10, 42), 0, 0);
    add("random(1000000, 42), epoch 1", Samplers.random(1_000_000, 42), 1, 0);
    add(
        "random(1000000000, 42), epoch 0, from position 4294967292",
        Samplers.random(1_000_000_000, 42),
        0,
        4_294_967_292L);
    add("random(3458764513820540928, -1), epoch 0", Samplers.random(3L << 60, -1), 0, 0);
    add("shuffle(2, 0), epochs 0 to 3", Samplers.shuffle(2, 0).repeat(4), 0, 0);
    add("shuffle(10, 42), epoch 0", Samplers.shuffle(10, 42), 0, 0);
    add("shuffle(10, 42), epoch 1", Samplers.shuffle(10, 42), 1, 0);
    add("shuffle(10, 43), epoch 0", Samplers.shuffle(10, 43), 0, 0);
    add("shuffle(256, 42), epoch 0", Samplers.shuffle(256, 42), 0, 0);
    add("shuffle(1000000, 42), epoch 0", Samplers.shuffle(1_000_000, 42), 0, 0);
    add("shuffle(1000000000, -7), epoch 5", Samplers.shuffle(1_000_000_000, -7), 5, 0);
    add("shuffle(10000000000, 3), epoch 2", Samplers.shuffle(10_000_000_000L, 3), 2, 0);
    add("shuffle(4611686018427387904, 1), epoch 0", Samplers.shuffle(1L << 62, 1), 0, 0);
    add("global(1000, 4, 42), epoch 0", Samplers.global(1000, 4, 42), 0, 0);
    add("sliding(10, 4, 3)", Samplers.sliding(10, 4, 3), 0, 0);
    add("blockShuffle(100, 8, 0, 42), epoch 0", Samplers.blockShuffle(100, 8, 0, 42), 0, 0);
    add("blockShuffle(100, 8, 3, 42), epoch 0", Samplers.blockShuffle(100, 8, 3, 42), 0, 0);
    long[] bounds = {0, 1, 5, 20, 30};
    add(
        "blockShuffle([0, 1, 5, 20, 30], 2, 42), epoch 0",
        Samplers.blockShuffle(bounds, 2, 42),
        0,
        0);
    double[] weights = {0.1, 0.2, 0.3, 0, 2.5};
    add("weighted([0.1, 0.2, 0.3, 0, 2.5], 42), epoch 1", Samplers.weighted(weights, 42), 1, 0);
    add(
        "mixInProportion([shuffle(30, 1), sequential(10)], 8, 42), epoch 2",
        Samplers.mixInProportion(List.of(Samplers.shuffle(30, 1), Samplers.sequential(10)), 8, 42),
        2,
        0);
    add(
        "mix([shuffle(3, 1), sequential(2)], [0.75, 0.25], 8, 42), epoch 0, from position 8",
        Samplers.mix(
            List.of(Samplers.shuffle(3, 1), Samplers.sequential(2)),
            new double[] {0.75, 0.25},
            8,
            42),
        0,
        8);
    add(
        "stratified([5, 5, -1, 5, 5, -1, 5, 5, 5, -1, 5, 5], 4, 42), epoch 0",
        Samplers.stratified(LABELS, 4, 42),
        0,
        0);
    Map<String, long[]> specified = specified();
    assertThat(ours.keySet()).isEqualTo(specified.keySet());
    ours.forEach(
        (name, indices) -> assertThat(indices).as(name).containsExactly(specified.get(name)));
  }

  private void add(String name, Sampler sampler, long epoch, long position) {
    long[] indices = new long[8];
    sampler.indices(epoch, position, indices, 0, indices.length);
    ours.put(name, indices);
  }

  private static Map<String, long[]> specified() throws IOException {
    return Files.readAllLines(SPECIFICATION).stream()
        .map(VECTOR::matcher)
        .filter(Matcher::matches)
        .collect(Collectors.toMap(
            line -> line.group(1),
            line -> Arrays.stream(line.group(2).split(", ", -1))
                .mapToLong(Long::parseLong)
                .toArray()));
  }
}
