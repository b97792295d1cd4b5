package io.zrecord.benchmarks.remote;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import io.zrecord.storage.hadoop.HadoopStorage;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/** The ways by which a table on S3 is opened: the clients of storage-hadoop and of storage-s3. */
enum RemoteTables {
  /** Opens a table by S3A. */
  HADOOP("zrecord, S3A") {
    @Override
    Storage at(RemoteSite site, String table) {
      Configuration settings = new Configuration();
      settings.set("fs.s3a.endpoint", site.endpoint().toString());
      settings.set("fs.s3a.endpoint.region", RemoteSite.REGION);
      settings.set("fs.s3a.path.style.access", "true");
      settings.set("fs.s3a.connection.ssl.enabled", "false");
      settings.set("fs.s3a.access.key", site.accessKey());
      settings.set("fs.s3a.secret.key", site.secretKey());
      return HadoopStorage.at(RemoteSite.table("s3a", table), settings);
    }
  },

  /** Opens a table by whatever knows {@code s3}. Credentials are those of the environment. */
  S3("zrecord, storage-s3") {
    @Override
    Storage at(RemoteSite site, String table) {
      return Storages.at(
          RemoteSite.table("s3", table),
          Map.of(
              "endpoint",
              site.endpoint().toString(),
              "region",
              RemoteSite.REGION,
              "pathStyle",
              "true"));
    }
  };

  private final String contestant;

  RemoteTables(String contestant) {
    this.contestant = contestant;
  }

  /** Returns the name in the results. */
  String contestant() {
    return contestant;
  }

  abstract Storage at(RemoteSite site, String table);
}
