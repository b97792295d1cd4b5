package io.zrecord.testing;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Files in memory that lose power, or fail once. What was not forced, sectors, lengths and names,
 * is there afterwards or not, each by chance. Every call that changes something is a step; from a
 * chosen step on all of them fail, and nothing has an effect any more. Belongs to one thread.
 */
public final class PowerLossFiles implements MutableFiles {
  private static final int SECTOR_BYTES = 512;
  private static final int CAPACITY_BYTES = 1 << 18;

  private final Map<String, Node> names = new TreeMap<>();
  private final Map<String, Node> durableNames = new TreeMap<>();
  private final long lastStep;
  private long steps;
  private boolean hasNoPower;
  private int droppedReplacements;
  private long failingStep = -1;
  private Supplier<? extends RuntimeException> failure = PowerLossException::new;

  /** The power is gone. */
  public static final class PowerLossException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static final class Node {
    private final ByteBuffer content =
        ByteBuffer.allocateDirect(CAPACITY_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private int length;
    private byte[] durable = {};
  }

  /** Makes files that lose power at the step of this number, counted from 0. */
  public PowerLossFiles(long lastStep) {
    this.lastStep = lastStep;
  }

  /** Lets one step fail, without effect; of a write, the first half is done. */
  public PowerLossFiles failingAt(long step, Supplier<? extends RuntimeException> exception) {
    failingStep = step;
    failure = exception;
    return this;
  }

  /** Returns the number of calls that changed something so far. */
  public long steps() {
    return steps;
  }

  /** Returns what is left when the power is back. */
  public PowerLossFiles afterPowerLoss(Random random) {
    return afterPowerLoss(random, Long.MAX_VALUE);
  }

  /**
   * Returns what is left when the power is back.
   *
   * @param nextLastStep the step at which the power goes again, counted from 0
   */
  public PowerLossFiles afterPowerLoss(Random random, long nextLastStep) {
    PowerLossFiles left = new PowerLossFiles(nextLastStep);
    Set<String> all = new TreeSet<>(names.keySet());
    all.addAll(durableNames.keySet());
    Map<Node, Node> survivors = new HashMap<>();
    for (String name : all) {
      Node node = names.get(name);
      Node durable = durableNames.get(name);
      // A name that was not forced since it changed leads to either file, or to none.
      Node chosen = node == durable || random.nextBoolean() ? node : durable;
      if (chosen != null) {
        Node survivor = survivors.computeIfAbsent(chosen, lost -> survivor(lost, random));
        left.names.put(name, survivor);
        left.durableNames.put(name, survivor);
      }
    }
    return left;
  }

  private static Node survivor(Node lost, Random random) {
    Node left = new Node();
    boolean keepsLength = lost.length == lost.durable.length || random.nextBoolean();
    left.length = keepsLength ? lost.length : lost.durable.length;
    for (int sector = 0; sector < left.length; sector += SECTOR_BYTES) {
      int bytes = Math.min(SECTOR_BYTES, left.length - sector);
      if (random.nextBoolean()) {
        left.content.put(sector, lost.content, sector, bytes);
      } else if (sector < lost.durable.length) {
        left.content.put(
            sector, lost.durable, sector, Math.min(bytes, lost.durable.length - sector));
      }
    }
    left.durable = copy(left);
    return left;
  }

  private static byte[] copy(Node node) {
    byte[] copy = new byte[node.length];
    node.content.get(0, copy);
    return copy;
  }

  private void step() {
    if (steps >= lastStep) {
      hasNoPower = true;
      throw new PowerLossException();
    }
    if (steps++ == failingStep) {
      throw failure.get();
    }
  }

  @Override
  public String location() {
    return "memory:";
  }

  @Override
  public boolean exists(String name) {
    if (hasNoPower) {
      throw new PowerLossException();
    }
    return names.containsKey(name)
        || names.keySet().stream().anyMatch(other -> other.startsWith(name + "/"));
  }

  @Override
  public List<String> list(String directory) {
    return names.keySet().stream()
        .filter(name -> directoryOf(name).equals(directory))
        .map(name -> name.substring(name.lastIndexOf('/') + 1))
        .toList();
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return copy(node(name));
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    return new OpenFile(name, node(name));
  }

  @Override
  public MutableFile create(String name) {
    step();
    if (names.containsKey(name)) {
      throw new StorageException(name, "Cannot create " + name + ": it exists");
    }
    Node node = new Node();
    names.put(name, node);
    return new OpenFile(name, node);
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    int begun = droppedReplacements;
    Node node = new Node();
    writing.accept(new OpenFile(name, node));
    node.durable = copy(node);
    lastCheck.run();
    if (begun != droppedReplacements) {
      lastCheck.run();
      throw new MissingFileException(name, "Cannot replace " + name + ": the new file is gone");
    }
    names.put(name, node);
    step();
    durableNames.put(name, node);
  }

  @Override
  public void forceDirectory(String directory) {
    step();
    durableNames.keySet().removeIf(name -> directoryOf(name).equals(directory));
    names.forEach((name, node) -> {
      if (directoryOf(name).equals(directory)) {
        durableNames.put(name, node);
      }
    });
  }

  @Override
  public void delete(String name) {
    step();
    names.remove(name);
  }

  @Override
  public void delete(List<String> deleted, Runnable lastCheck) {
    int begun = droppedReplacements;
    lastCheck.run();
    for (String name : deleted) {
      if (begun != droppedReplacements) {
        lastCheck.run();
        throw new StorageException(name, "Cannot delete " + name + ": another came meanwhile");
      }
      delete(name);
    }
  }

  @Override
  public void dropReplacements() {
    droppedReplacements++;
  }

  private static String directoryOf(String name) {
    return name.contains("/") ? name.substring(0, name.lastIndexOf('/')) : "";
  }

  private Node node(String name) {
    @Nullable Node node = names.get(name);
    if (node == null) {
      throw new MissingFileException(name, "Cannot open " + name + ": there is no such file");
    }
    return node;
  }

  private final class OpenFile implements MutableFile {
    private final String name;
    private final Node node;

    OpenFile(String name, Node node) {
      this.name = name;
      this.node = node;
    }

    @Override
    public String path() {
      return name;
    }

    @Override
    public long lengthBytes() {
      return node.length;
    }

    @Override
    public void write(long position, ByteBuffer source) {
      int bytes = source.remaining();
      if (steps == failingStep) {
        node.content.put((int) position, source, source.position(), bytes / 2);
        node.length = Math.max(node.length, (int) position + bytes / 2);
      }
      step();
      node.content.put((int) position, source, source.position(), bytes);
      source.position(source.limit());
      node.length = Math.max(node.length, (int) position + bytes);
    }

    @Override
    public int read(long position, ByteBuffer target) {
      int bytes = (int) Math.max(0, Math.min(target.remaining(), node.length - position));
      target.put(target.position(), node.content, (int) position, bytes);
      target.position(target.position() + bytes);
      return bytes;
    }

    @Override
    public void setLength(long lengthBytes) {
      step();
      if (lengthBytes < node.length) {
        node.content.put((int) lengthBytes, new byte[node.length - (int) lengthBytes]);
      }
      node.length = (int) lengthBytes;
    }

    @Override
    public void force() {
      step();
      node.durable = copy(node);
    }

    @Override
    public ByteBuffer map(long position, int lengthBytes, boolean writable) {
      return node.content.slice((int) position, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {}
  }
}
