package io.zrecord.testing;

/**
 * A request that reached a {@link FaultyProxy}.
 *
 * @param method such as {@code GET}
 * @param target path and query, as they were sent
 * @param range the ranges asked for; empty if all of the object
 * @param number of the request since the proxy was healed, from 0
 */
public record HttpRequest(String method, String target, String range, int number) {

  /** Tells whether the request reads bytes of an object. */
  public boolean readsObject() {
    return method.equals("GET") && target.indexOf('?') < 0;
  }

  /** Tells whether the request changes what is stored. */
  public boolean writes() {
    return !method.equals("GET") && !method.equals("HEAD");
  }

  @Override
  public String toString() {
    return method + " " + target + (range.isEmpty() ? "" : " " + range);
  }
}
