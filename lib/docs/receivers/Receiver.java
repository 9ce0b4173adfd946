// A receiver of Bridge's webhooks: java Receiver.java (Java 17). Settings: WEBHOOK_SECRETS, PORT, INBOX.

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.UUID;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  /** One secret, or several with spaces between them while it is rotated; each as it was shown, whsec_ included. */
  private static final String[] SECRETS = System.getenv("WEBHOOK_SECRETS").trim().split(" +");
  private static final Path INBOX = Path.of(System.getenv().getOrDefault("INBOX", "inbox"));
  private static final long TOLERANCE_SECONDS = 300;

  static boolean isSigned(Headers headers, byte[] body) throws GeneralSecurityException {
    String id = String.valueOf(headers.getFirst("webhook-id"));
    String timestamp = String.valueOf(headers.getFirst("webhook-timestamp"));
    if (!id.matches("[\\w-]+") || !timestamp.matches("[0-9]{1,12}")) return false;
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
    if (Math.abs(age) > TOLERANCE_SECONDS) return false;
    String[] given = String.valueOf(headers.getFirst("webhook-signature")).split(" ");
    for (String secret : SECRETS) {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      byte[] wanted = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
      for (String signature : given) {
        if (MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), wanted)) return true;
      }
    }
    return false;
  }

  /** Keeps the event under its id; false when it is there already, whole: a link is made at once or not at all. */
  static boolean keep(String id, byte[] body) throws IOException {
    Path draft = INBOX.resolve("." + UUID.randomUUID());
    try {
      try (FileChannel file = FileChannel.open(draft, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(body);
        while (left.hasRemaining()) file.write(left);
        file.force(true);
      }
      Files.createLink(INBOX.resolve(id + ".json"), draft);
      return true;
    } catch (FileAlreadyExistsException known) {
      return false;
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  static void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      if (!isSigned(exchange.getRequestHeaders(), body)) {
        answer(exchange, 401, "bad signature\n");
        return;
      }
      // What has to be done for the event is done afterwards, from the inbox: the answer is due within 5 seconds.
      boolean isNew = keep(exchange.getRequestHeaders().getFirst("webhook-id"), body);
      answer(exchange, 200, isNew ? "kept\n" : "known\n");
    } catch (GeneralSecurityException error) {
      throw new IOException(error); // no answer makes Bridge try again
    }
  }

  static void answer(HttpExchange exchange, int status, String text) throws IOException {
    exchange.sendResponseHeaders(status, text.length());
    exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
  }

  public static void main(String[] arguments) throws IOException {
    Files.createDirectories(INBOX);
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.createContext("/", Receiver::receive);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }
}
