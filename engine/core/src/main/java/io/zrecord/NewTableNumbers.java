package io.zrecord;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.table.IdentityNumbers;
import java.util.List;

/**
 * The identities of a table that is not there yet: nobody else has numbers of them. Thread-safe.
 */
final class NewTableNumbers implements IdentityNumbers.Reservations {
  private final String location;
  private List<Identity> identities;

  NewTableNumbers(String location, List<Identity> identities) {
    this.location = location;
    this.identities = identities;
  }

  @Override
  public synchronized IdentityRange reserve(Identity identity, long count) {
    Identity present = identities.stream()
        .filter(identity::isSameSeries)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("There is no " + identity));
    if (count > present.remaining()) {
      throw new ValueTooLargeException(
          location,
          "Cannot give " + count + " numbers of field " + identity.fieldId() + " in " + location
              + ": its identity goes on at " + present.next() + " by steps of " + present.step()
              + ", and " + present.remaining() + " of its numbers fit into 64 bits; let it start"
              + " elsewhere");
    }
    Identity after = present.reserved(count);
    identities =
        identities.stream().map(one -> one.isSameSeries(after) ? after : one).toList();
    return after.last(count);
  }

  /** Returns the identities after all numbers that were reserved. */
  synchronized List<Identity> identities() {
    return identities;
  }
}
