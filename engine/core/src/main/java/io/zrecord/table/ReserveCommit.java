package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import java.util.Optional;

/**
 * Commits that numbers of an identity are reserved. Each attempt reserves after what the newest
 * version has, so a commit that was tried again has numbers of its own. Belongs to one thread.
 */
final class ReserveCommit extends CareCommit {
  private final String location;
  private final Identity identity;
  private final long count;

  ReserveCommit(String location, Manifest planned, Identity identity, long count) {
    super("reserve", location, planned);
    this.location = location;
    this.identity = identity;
    this.count = count;
  }

  /** Returns the numbers that a version reserves which this commit has published. */
  IdentityRange range(Manifest published) {
    return series(published).orElseThrow().last(count);
  }

  private Optional<Identity> series(Manifest manifest) {
    return manifest.declarations().identity(identity.fieldId()).filter(identity::isSameSeries);
  }

  @Override
  public boolean isDone(Manifest newest) {
    return false;
  }

  @Override
  void requireFits(Manifest newest) {
    reserved(newest);
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    return newest.retention();
  }

  @Override
  Declarations declarations(Manifest newest) {
    Identity after = reserved(newest);
    Declarations declarations = newest.declarations();
    return declarations.withIdentities(declarations.identities().stream()
        .map(present -> present.isSameSeries(after) ? after : present)
        .toList());
  }

  private Identity reserved(Manifest newest) {
    Identity present = series(newest)
        .orElseThrow(() -> new CommitConflictException(
            location,
            "Cannot reserve " + count + " numbers of " + name(newest) + " in " + location
                + ": version " + newest.version()
                + " has another identity of the field, or none; read the newest version and try"
                + " again"));
    if (count > present.remaining()) {
      throw new ValueTooLargeException(
          location,
          "Cannot reserve " + count + " numbers of " + name(newest) + " in " + location
              + ": its identity goes on at " + present.next() + " by steps of " + present.step()
              + ", and " + present.remaining() + " of its numbers fit into 64 bits; reserve fewer,"
              + " or drop the identity and add one that starts elsewhere");
    }
    return present.reserved(count);
  }

  private String name(Manifest newest) {
    return newest
        .schema()
        .find(identity.fieldId())
        .map(field -> "field '" + field.name() + "'")
        .orElse("field " + identity.fieldId());
  }
}
