package io.zrecord.sampler;

import io.zrecord.internal.random.Mixing;
import java.util.Arrays;
import java.util.List;

/** Makes mixes: by weights, in proportion, and of the classes of labelled records. */
final class Mixes {
  /** Weights are rounded to multiples of one part in this many. */
  private static final long PARTS = 1 << 20;

  private Mixes() {}

  static MixSampler byWeights(List<Sampler> sources, double[] weights, int round, long seed) {
    Checks.inRange(
        "number of weights",
        weights.length,
        sources.size(),
        sources.size(),
        "give one for each source");
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      if (!(weights[i] >= 0 && weights[i] < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException("Cannot sample: weight " + i + " is " + weights[i]
            + ", which is not in [0, infinity); give 0 to leave a source out");
      }
      if (weights[i] > 0 && sources.get(i).length() == 0) {
        throw new IllegalArgumentException("Cannot sample: source " + i + ", " + sources.get(i)
            + ", is empty and has weight " + weights[i] + "; give it weight 0");
      }
      sum += weights[i];
    }
    if (!(sum > 0 && sum < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("Cannot sample: the sum of the " + weights.length
          + " weights is " + sum + "; it must be above 0 and finite: scale them");
    }
    long[] rates = new long[weights.length];
    Sampler[] endless = new Sampler[weights.length];
    for (int i = 0; i < rates.length; i++) {
      rates[i] = weights[i] == 0 ? 0 : Math.max(1, Math.round(weights[i] / sum * PARTS));
      endless[i] = sources.get(i).repeat();
    }
    return new MixSampler(endless, rates, offsets(endless), Sampler.ENDLESS, round, seed);
  }

  static MixSampler inProportion(List<Sampler> sources, int round, long seed) {
    Sampler[] all = sources.toArray(new Sampler[0]);
    long[] lengths = Arrays.stream(all).mapToLong(Sampler::length).toArray();
    return new MixSampler(all, lengths, offsets(all), sum(lengths), round, seed);
  }

  /** Mixes the classes so that every record comes once in an epoch. */
  static Sampler stratified(int[] labels, int round, long seed) {
    Sampler[] classes = classes(labels, seed);
    long[] lengths = Arrays.stream(classes).mapToLong(Sampler::length).toArray();
    return new MixSampler(classes, lengths, sameSpace(classes, labels), labels.length, round, seed);
  }

  /** Mixes the classes so that each class comes as often as any other. */
  static Sampler balanced(int[] labels, int round, long seed) {
    Sampler[] classes = classes(labels, seed);
    long[] rates = new long[classes.length];
    Arrays.fill(rates, 1);
    for (int i = 0; i < classes.length; i++) {
      classes[i] = classes[i].repeat();
    }
    long length = labels.length == 0 ? 0 : Sampler.ENDLESS;
    return new MixSampler(classes, rates, sameSpace(classes, labels), length, round, seed);
  }

  /** Makes a shuffle of the records of each label, labels in rising order. */
  private static Sampler[] classes(int[] labels, long seed) {
    int[] distinct = Arrays.stream(labels).sorted().distinct().toArray();
    int[] counts = new int[distinct.length];
    for (int label : labels) {
      counts[Arrays.binarySearch(distinct, label)]++;
    }
    long[][] members = new long[distinct.length][];
    for (int i = 0; i < distinct.length; i++) {
      members[i] = new long[counts[i]];
    }
    for (int record = labels.length - 1; record >= 0; record--) {
      int own = Arrays.binarySearch(distinct, labels[record]);
      members[own][--counts[own]] = record;
    }
    Sampler[] classes = new Sampler[distinct.length];
    for (int i = 0; i < classes.length; i++) {
      long classSeed = Mixing.absorb(Mixing.absorb(Mixing.CLASSES, seed), distinct[i]);
      classes[i] = new ListSampler(members[i], new ShuffleSampler(members[i].length, classSeed));
    }
    return classes;
  }

  private static long[] sameSpace(Sampler[] classes, int[] labels) {
    long[] offsets = new long[classes.length + 1];
    offsets[classes.length] = labels.length;
    return offsets;
  }

  private static long[] offsets(Sampler[] sources) {
    long[] offsets = new long[sources.length + 1];
    for (int i = 0; i < sources.length; i++) {
      offsets[i + 1] = Math.addExact(offsets[i], sources[i].bound());
    }
    return offsets;
  }

  private static long sum(long[] lengths) {
    long sum = 0;
    for (int i = 0; i < lengths.length; i++) {
      Checks.inRange(
          "length of source " + i, lengths[i], 0, Checks.MAX_LENGTH, "take() a part of it");
      sum = Math.addExact(sum, lengths[i]);
    }
    return sum;
  }
}
