package io.zrecord.testing;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/** What a {@link FaultyProxy} does with a request instead of handing it on. Thread-safe. */
@FunctionalInterface
public interface HttpFault {

  /** Handles a request. */
  void answer(HttpExchange exchange) throws IOException;

  /** Hands the request and the answer on. */
  static HttpFault none() {
    return exchange -> exchange.send(exchange.forward());
  }

  /** The server does what it was asked for, and the connection is reset before the answer. */
  static HttpFault answerLost() {
    return exchange -> {
      exchange.forward();
      exchange.reset();
    };
  }

  /** The connection is reset after a number of bytes of the request's body; nothing happens. */
  static HttpFault requestReset(int bytes) {
    return exchange -> {
      exchange.readPart(bytes);
      exchange.reset();
    };
  }

  /** The request is refused, and has no effect. */
  static HttpFault refused(int status, String code) {
    return exchange -> exchange.refuse(status, code);
  }

  /**
   * The server does what it was asked for, and the client is told that its condition does not hold:
   * what a client sees whose request was repeated on the way.
   */
  static HttpFault echo() {
    return doneAnd(412, "PreconditionFailed");
  }

  /** The server does what it was asked for, and the client is told that the request is refused. */
  static HttpFault doneAnd(int status, String code) {
    return exchange -> {
      exchange.forward();
      exchange.refuse(status, code);
    };
  }

  /** The answer ends after a number of bytes of its body, in good order. */
  static HttpFault bodyCut(int bytes) {
    return exchange -> exchange.sendPart(exchange.forward(), bytes);
  }

  /** The connection is reset after a number of bytes of the answer's body. */
  static HttpFault bodyReset(int bytes) {
    return exchange -> {
      exchange.sendPart(exchange.forward(), bytes);
      exchange.reset();
    };
  }

  /**
   * One byte of the answer's body is another one.
   *
   * @param position of the byte, from 0; counted from the end if negative; taken modulo the length
   */
  static HttpFault byteFlipped(int position) {
    return exchange -> {
      HttpExchange.Answer answer = exchange.forward();
      if (answer.body().length > 0) {
        answer.body()[Math.floorMod(position, answer.body().length)] ^= 0x10;
      }
      exchange.send(answer);
    };
  }

  /** The answer comes later. */
  static HttpFault late(long millis) {
    return exchange -> {
      HttpExchange.Answer answer = exchange.forward();
      LockSupport.parkNanos(millis * 1_000_000);
      exchange.send(answer);
    };
  }

  /** Something else happens first, such as the deletion of the object that is asked for. */
  static HttpFault after(Runnable event) {
    return exchange -> {
      event.run();
      exchange.send(exchange.forward());
    };
  }
}
