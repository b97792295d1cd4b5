package io.zrecord.benchmarks;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/**
 * Measures making indices on one thread, in ns for each index: a million in one call and in batches
 * of 256. Compares with NumPy's {@code randint}, {@code Generator.integers} (both with
 * {@code dtype=np.uint64}) and {@code permutation}, if {@code $PYTHON}, else {@code python3}, has
 * NumPy. NumPy makes a new array in every call, as for its callers, because these functions take no
 * array to write into. The samplers fill one array. {@code new} makes an array for every call, and
 * {@code fill} is {@link Arrays#fill}, the least time of writing. Figures are medians of 11 turns
 * of eight million indices: shorter turns measure how the clock and the caches settle after the
 * others' turns.
 */
public final class SamplerBenchmark {
  private static final int COUNT = 1_000_000;
  private static final int PASSES = Effort.rounds(8);
  private static final int BATCH = 256;
  private static final int REPEATS = Effort.rounds(11);
  private static final int WARM_UPS = Effort.warmUps(5);
  private static final long[] LENGTHS = {1_000_000, 100_000_000, 1_000_000_000, 10_000_000_000L};
  private static final String PEER = """
      import sys, time
      import numpy as np
      g = np.random.default_rng(1)
      print(np.__version__, flush=True)
      for line in sys.stdin:
          name, n, size, calls = line.split()
          n, size, calls = int(n), int(size), int(calls)
          f = {'randint': lambda: np.random.randint(0, n, size, dtype=np.uint64),
               'integers': lambda: g.integers(0, n, size, dtype=np.uint64),
               'permutation': lambda: np.random.permutation(n)}[name]
          start = time.perf_counter()
          for _ in range(calls):
              f()
          print((time.perf_counter() - start) * 1e9 / (calls * size), flush=True)
      """;

  private final long[] target = new long[COUNT];

  private SamplerBenchmark() {}

  /** A measurement that can be repeated: ns for each index. */
  private interface Contestant {
    double run() throws IOException;
  }

  /** Makes {@code count} indices, from the index at position {@code from} on. */
  private interface Maker {
    void make(int from, int count);
  }

  public static void main(String[] arguments) throws IOException {
    SamplerBenchmark benchmark = new SamplerBenchmark();
    Process peer = startPeer();
    BufferedReader answers =
        new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.UTF_8));
    PrintWriter questions = new PrintWriter(
        new OutputStreamWriter(peer.getOutputStream(), StandardCharsets.UTF_8), true);
    String version = answers.readLine();
    System.out.printf("%nns an index; NumPy %s%n%n", version == null ? "is absent" : version);
    System.out.println("| from | order | one call | batches of 256 |\n|---|---|---|---|");
    for (long length : LENGTHS) {
      Map<String, Contestant> contestants = new LinkedHashMap<>();
      benchmark.makers(length).forEach((name, maker) -> {
        contestants.put(name, () -> measure(maker, COUNT));
        contestants.put(name + " ", () -> measure(maker, BATCH));
      });
      if (version != null) {
        for (String name : List.of("randint", "integers")) {
          contestants.put("NumPy " + name, () -> ask(questions, answers, name, length, COUNT));
          contestants.put(
              "NumPy " + name + " ", () -> ask(questions, answers, name, length, BATCH));
        }
      }
      print(length, contestants);
      if (version != null && length <= Effort.of(LENGTHS[1])) {
        questions.printf("permutation %d %d 1%n", length, length);
        double once = Double.parseDouble(answers.readLine());
        System.out.printf(Locale.ROOT, "| %,d | NumPy permutation | %.2f | |%n", length, once);
      }
    }
    questions.close();
  }

  private static Process startPeer() throws IOException {
    String python = System.getenv().getOrDefault("PYTHON", "python3");
    try {
      return peer(python, "-c", PEER);
    } catch (IOException absent) {
      return peer("true");
    }
  }

  private static Process peer(String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private Map<String, Maker> makers(long length) {
    Map<String, Maker> makers = new LinkedHashMap<>();
    makers.put("fill", (from, count) -> Arrays.fill(target, from, from + count, from));
    samplers(length)
        .forEach((name, sampler) ->
            makers.put(name, (from, count) -> sampler.indices(0, from, target, from, count)));
    Sampler random = Samplers.random(length, 1);
    makers.put("random, new", (from, count) -> random.indices(0, from, new long[count], 0, count));
    return makers;
  }

  private Map<String, Sampler> samplers(long length) {
    Map<String, Sampler> samplers = new LinkedHashMap<>();
    samplers.put("random", Samplers.random(length, 1));
    samplers.put("shuffle", Samplers.shuffle(length, 1));
    samplers.put(
        "shuffle, 1 of 8 ranks", Samplers.shuffle(length, 1).repeat().share(3, 8, Remainder.DROP));
    samplers.put("blockShuffle of 4096, 1 mixed", Samplers.blockShuffle(length, 4096, 1, 1));
    samplers.put("blockShuffle of 4096, 16 mixed", Samplers.blockShuffle(length, 4096, 16, 1));
    samplers.put("global by 256", Samplers.global(length, BATCH, 1));
    if (length == LENGTHS[0]) {
      double[] weights = new Random(1).doubles(COUNT).toArray();
      samplers.put("weighted", Samplers.weighted(weights, 1));
      int[] labels = new Random(1).ints(COUNT, 0, 10).toArray();
      samplers.put("stratified, 10 classes", Samplers.stratified(labels, BATCH, 1));
    }
    return samplers;
  }

  private static double measure(Maker maker, int request) {
    int count = COUNT / request * request;
    long start = System.nanoTime();
    for (int pass = 0; pass < PASSES; pass++) {
      for (int done = 0; done < count; done += request) {
        maker.make(done, request);
      }
    }
    return (System.nanoTime() - start) / ((double) count * PASSES);
  }

  private static double ask(
      PrintWriter questions, BufferedReader answers, String name, long length, int size)
      throws IOException {
    questions.printf("%s %d %d %d%n", name, length, size, COUNT / size * PASSES);
    return Double.parseDouble(answers.readLine());
  }

  private static void print(long length, Map<String, Contestant> contestants) throws IOException {
    Map<String, double[]> results = new LinkedHashMap<>();
    for (int round = -WARM_UPS; round < REPEATS; round++) {
      for (Map.Entry<String, Contestant> contestant : contestants.entrySet()) {
        double result = contestant.getValue().run();
        if (round >= 0) {
          results.computeIfAbsent(contestant.getKey(), name -> new double[REPEATS])[round] = result;
        }
      }
    }
    results.values().forEach(Arrays::sort);
    results.forEach((name, sorted) -> {
      if (!name.endsWith(" ")) {
        System.out.printf(
            Locale.ROOT,
            "| %,d | %s | %.2f | %.2f |%n",
            length,
            name,
            sorted[REPEATS / 2],
            Objects.requireNonNull(results.get(name + " "))[REPEATS / 2]);
      }
    });
  }
}
