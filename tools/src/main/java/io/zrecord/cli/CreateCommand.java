package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates an empty store. */
@Command(name = "create", description = "Makes an empty store.")
final class CreateCommand extends Subcommand {
  @Parameters(paramLabel = "STORE", description = "a directory that is empty or does not exist")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--field",
      required = true,
      paramLabel = "NAME:TYPE[:SHAPE][:CODEC]",
      description = {
        "a field, such as image:u8:28,28:zstd:3 or text:utf8; may be repeated. Types: bool i8 u8 i16"
            + " u16 i32 u32 i64 u64 f16 bf16 f32 f64 date timestamp timestamp_ntz decimal(p,s) bytes"
            + " utf8; a shape may begin with -1; codecs: raw flate zstd lz4"
      })
  private List<String> fields = List.of();

  @Override
  public Integer call() {
    List<FieldSpec> specs = new ArrayList<>();
    for (String field : fields) {
      specs.add(FieldArgument.parse(specs.size() + 1, field));
    }
    RecordStore.create(path.store(), new RecordSchema(specs), StoreOptions.defaults())
        .close();
    out().println("created " + path + " with " + specs.size() + " fields");
    return ExitCodes.DONE;
  }
}
