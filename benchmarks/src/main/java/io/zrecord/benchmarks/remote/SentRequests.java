package io.zrecord.benchmarks.remote;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Notes when each request of this process began and when the last byte of its answer was read. The
 * AWS SDK finds the class by a resource and hands it the requests of every client. Thread-safe.
 */
public final class SentRequests implements ExecutionInterceptor {
  private static final ExecutionAttribute<Sent> SENT = new ExecutionAttribute<>("zrecord.sent");
  private static final List<Sent> ALL = new ArrayList<>();

  /** Creates an interceptor. All interceptors note to one list. */
  public SentRequests() {}

  private static final class Sent {
    private final long startNanos = System.nanoTime();
    private final long uploadedBytes;
    private volatile long endNanos = startNanos;

    private Sent(long uploadedBytes) {
      this.uploadedBytes = uploadedBytes;
    }

    private void ends() {
      endNanos = System.nanoTime();
    }
  }

  /**
   * How requests went together.
   *
   * @param inTurn length of the longest row of requests each of which began after the one before it
   *     had ended
   * @param atOnce requests under way together, at most
   * @param uploadedBytes bytes of the bodies of the requests
   */
  record Order(int inTurn, int atOnce, long uploadedBytes) {}

  /** Forgets the requests until now. */
  static void clear() {
    synchronized (ALL) {
      ALL.clear();
    }
  }

  /** Returns how the requests since the last {@link #clear} went together. */
  static Order order() {
    List<Sent> sent;
    synchronized (ALL) {
      sent = new ArrayList<>(ALL);
    }
    sent.sort(Comparator.comparingLong(one -> one.endNanos));
    int inTurn = 0;
    long end = Long.MIN_VALUE;
    for (Sent one : sent) {
      if (inTurn == 0 || one.startNanos >= end) {
        inTurn++;
        end = one.endNanos;
      }
    }
    long[] starts = sent.stream().mapToLong(one -> one.startNanos).sorted().toArray();
    int ended = 0;
    int atOnce = 0;
    for (int begun = 0; begun < starts.length; begun++) {
      while (sent.get(ended).endNanos < starts[begun]) {
        ended++;
      }
      atOnce = Math.max(atOnce, begun + 1 - ended);
    }
    long uploadedBytes = sent.stream().mapToLong(one -> one.uploadedBytes).sum();
    return new Order(inTurn, atOnce, uploadedBytes);
  }

  @Override
  public void beforeTransmission(
      Context.BeforeTransmission context, ExecutionAttributes attributes) {
    Sent sent = new Sent(context
        .httpRequest()
        .firstMatchingHeader("Content-Length")
        .map(Long::parseLong)
        .orElse(0L));
    attributes.putAttribute(SENT, sent);
    synchronized (ALL) {
      ALL.add(sent);
    }
  }

  @Override
  public Optional<InputStream> modifyHttpResponseContent(
      Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
    Sent sent = attributes.getAttribute(SENT);
    return context.responseBody().map(body -> sent == null ? body : new Noted(body, sent));
  }

  @Override
  public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
    ends(attributes);
  }

  @Override
  public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
    ends(attributes);
  }

  private static void ends(ExecutionAttributes attributes) {
    Sent sent = attributes.getAttribute(SENT);
    if (sent != null) {
      sent.ends();
    }
  }

  private static final class Noted extends FilterInputStream {
    private final Sent sent;

    private Noted(InputStream body, Sent sent) {
      super(body);
      this.sent = sent;
    }

    @Override
    public int read() throws IOException {
      int read = in.read();
      sent.ends();
      return read;
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
      int read = in.read(target, from, length);
      sent.ends();
      return read;
    }
  }
}
