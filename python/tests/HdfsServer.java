import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Runs a name node and a data node below a directory, prints the URL of WebHDFS, and stops when its input ends. */
final class HdfsServer {
  private HdfsServer() {}

  public static void main(String[] arguments) throws Exception {
    Configuration settings = new Configuration();
    settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, arguments[0]);
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(settings).numDataNodes(1).build()) {
      cluster.waitActive();
      System.out.println(cluster.getHttpUri(0));
      System.in.read();
    }
  }
}
