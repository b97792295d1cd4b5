package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import java.net.URI;
import java.security.PrivilegedAction;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;

/** Storages by S3A that give a request up after few repetitions and short pauses. Stateless. */
final class ImpatientS3a {
  /** File systems are kept for each user, so that each endpoint needs one. */
  private static final Map<URI, UserGroupInformation> USERS = new ConcurrentHashMap<>();

  private ImpatientS3a() {}

  static URI endpoint(S3Server server) {
    return URI.create(server.settings().get("fs.s3a.endpoint"));
  }

  /** Opens a storage that reaches a server at an endpoint, such as a proxy. */
  static Storage storage(S3Server server, URI endpoint, String dataset) {
    Configuration settings = server.settings();
    settings.set("fs.s3a.endpoint", endpoint.toString());
    settings.set("fs.s3a.attempts.maximum", "1");
    settings.set("fs.s3a.retry.limit", "1");
    settings.set("fs.s3a.retry.interval", "1ms");
    settings.set("fs.s3a.retry.throttle.limit", "1");
    settings.set("fs.s3a.retry.throttle.interval", "1ms");
    settings.set("fs.s3a.connection.timeout", "2m");
    return USERS
        .computeIfAbsent(
            endpoint, url -> UserGroupInformation.createRemoteUser("port" + url.getPort()))
        .doAs((PrivilegedAction<Storage>)
            () -> HadoopStorage.at(server.bucket() + "/" + dataset, settings));
  }
}
