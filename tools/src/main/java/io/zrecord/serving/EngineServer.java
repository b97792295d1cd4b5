package io.zrecord.serving;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * Does what another process asks for, one frame after the other, until the frames end: then every
 * session that was not committed is aborted. {@link Request} and {@link Replies} say what frames
 * look like, and {@link ColumnBatch} what a batch does.
 *
 * <pre>
 * OPEN    JSON, see {@link Session}        → OPENED with JSON, or FAILED
 * FIELDS  JSON, a list of fields           → nothing, or FAILED
 * BATCH   places of columns                → nothing, or FAILED
 * COMMIT                                   → DONE with JSON, or FAILED; the session has ended
 * ABORT                                    → ABORTED; the session has ended
 * CALL    JSON, see {@link TableCalls}     → DONE with JSON, or FAILED
 * PING                                     → PONG
 * </pre>
 *
 * Each frame that carries something is answered by TAKEN besides, once it was read. A session that
 * has failed answers nothing more, but a COMMIT, which is then FAILED again.
 */
public final class EngineServer {
  /** Number of the protocol, which changes with the frames. */
  public static final int PROTOCOL = 1;

  private final SharedInput memory;
  private final InputStream in;
  private final Replies replies;
  private final IdleWatch watch;
  private final Map<Integer, Session> sessions = new HashMap<>();

  private EngineServer(SharedInput memory, InputStream in, Replies replies, IdleWatch watch) {
    this.memory = memory;
    this.in = in;
    this.replies = replies;
    this.watch = watch;
  }

  /**
   * Serves until the frames end.
   *
   * @param memory file that the other process puts values into, such as {@code /dev/fd/5}
   * @param in delivers frames
   * @param out takes answers
   * @param idle time without a frame and without a session after which {@code onIdle} is called
   * @throws IOException if frames cannot be read, or answers cannot be sent
   * @throws IllegalArgumentException if something arrived that is no frame; nothing was committed
   *     that was not answered
   */
  public static void serve(
      Path memory, InputStream in, OutputStream out, Duration idle, Runnable onIdle)
      throws IOException {
    IdleWatch watch = new IdleWatch(idle, onIdle);
    try (SharedInput input = SharedInput.open(memory)) {
      EngineServer server = new EngineServer(input, in, new Replies(out), watch);
      try {
        watch.start();
        server.run();
      } finally {
        server.abortAll();
      }
    }
  }

  private void run() throws IOException {
    replies.send(
        Replies.Kind.HELLO, 0, JsonNodeFactory.instance.objectNode().put("protocol", PROTOCOL));
    for (Optional<Request> next = Request.read(in); next.isPresent(); next = Request.read(in)) {
      Request request = next.get();
      watch.begin();
      try {
        handle(request);
      } finally {
        watch.end();
      }
    }
  }

  private void handle(Request request) throws IOException {
    try {
      byte[] carried = new byte[request.lengthBytes()];
      memory.read(request.at(), carried.length, carried);
      answer(request, carried);
    } catch (RuntimeException | VirtualMachineError e) {
      LoggerFactory.getLogger(EngineServer.class).debug("Session {} fails", request.session(), e);
      end(request.session());
      replies.failed(request.session(), e);
    }
    if (request.lengthBytes() > 0) {
      replies.taken(request);
    }
  }

  private void answer(Request request, byte[] carried) throws IOException {
    int number = request.session();
    switch (request.kind()) {
      case PING -> replies.send(Replies.Kind.PONG, number);
      case OPEN -> {
        if (sessions.containsKey(number)) {
          throw new IllegalArgumentException(
              "Session " + number + " is open; number each session anew");
        }
        Session opened = new Session(Arguments.of(Arguments.parse(carried)));
        sessions.put(number, opened);
        watch.begin();
        replies.send(Replies.Kind.OPENED, number, opened.opened());
      }
      case FIELDS -> {
        Session session = sessions.get(number);
        if (session != null) {
          session.fields(Arguments.parse(carried));
        }
      }
      case BATCH -> {
        Session session = sessions.get(number);
        if (session != null) {
          session.put(memory, carried);
        }
      }
      case COMMIT -> {
        Session session = sessions.get(number);
        if (session == null) {
          throw new IllegalStateException(
              "Session " + number + " has ended, so that nothing can be committed; open another");
        }
        var result = session.commit();
        end(number);
        replies.send(Replies.Kind.DONE, number, result);
      }
      case ABORT -> {
        end(number);
        replies.send(Replies.Kind.ABORTED, number);
      }
      case CALL ->
        replies.send(
            Replies.Kind.DONE, number, TableCalls.call(Arguments.of(Arguments.parse(carried))));
    }
  }

  /** Ends a session. What was not committed is deleted as far as possible. */
  private void end(int number) {
    Session session = sessions.remove(number);
    if (session == null) {
      return;
    }
    watch.end();
    try {
      session.close();
    } catch (RuntimeException e) {
      // A sweep deletes what is left.
      LoggerFactory.getLogger(EngineServer.class)
          .warn("Session {} left files behind: {}", number, e.getMessage());
    }
  }

  private void abortAll() {
    List<Integer> open = new ArrayList<>(sessions.keySet());
    open.forEach(this::end);
  }
}
