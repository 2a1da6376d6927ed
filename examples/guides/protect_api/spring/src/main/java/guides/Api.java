package guides;

import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An API in Spring Boot that accepts access tokens for api1 (RFC 9068, RFC 6750): mvn spring-boot:run */
@RestController
@SpringBootApplication
public class Api {
  public static void main(String[] arguments) {
    SpringApplication.run(Api.class, arguments);
  }

  @GetMapping("/")
  Map<String, String> caller(@AuthenticationPrincipal Jwt token) {
    return Map.of("subject", token.getSubject(), "client", token.getClaimAsString("client_id"));
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http) throws Exception {
    return http
        .authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_api1"))
        .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
        .build();
  }

  private static final OAuth2TokenValidator<Jwt> ANY_CLIENT =
      new JwtClaimValidator<>("client_id", Objects::nonNull);

  /** Spring's own decoder takes ID tokens for access tokens; this one does not (RFC 9068 §4). */
  @Bean
  JwtDecoder decoder(@Value("${api.issuer}") String issuer, @Value("${api.audience}") String audience) {
    NimbusJwtDecoder decoder = NimbusJwtDecoder.withIssuerLocation(issuer).validateType(false).build();
    decoder.setJwtValidator(
        JwtValidators.createAtJwtValidator()
            .issuer(issuer)
            .audience(audience)
            .validators(rules -> rules.put("client_id", ANY_CLIENT))
            .build());
    return decoder;
  }
}
