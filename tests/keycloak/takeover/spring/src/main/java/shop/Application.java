package shop;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.converter.Converter;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An API and an application, as users of Keycloak write them: Spring's own decoders, and authorities by realm_access.roles. */
@RestController
@SpringBootApplication
public class Application {
  public static void main(String[] arguments) {
    SpringApplication.run(Application.class, arguments);
  }

  @GetMapping("/api/caller")
  Map<String, Object> caller(@AuthenticationPrincipal Jwt token) {
    return Map.of("sub", token.getSubject(), "name", token.getClaimAsString("preferred_username"));
  }

  @GetMapping("/")
  Map<String, Object> user(@AuthenticationPrincipal OidcUser user) {
    return Map.of("sub", user.getSubject(), "email", user.getEmail(), "name", user.getName(),
        "fullName", user.getFullName(), "level", user.getClaim("level"));
  }

  @Bean
  @Order(1)
  SecurityFilterChain api(HttpSecurity http) throws Exception {
    var converter = new JwtAuthenticationConverter();
    converter.setJwtGrantedAuthoritiesConverter(new RealmRoles());
    return http
        .securityMatcher("/api/**")
        .authorizeHttpRequests(requests -> requests.anyRequest().hasRole("manager"))
        .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.jwtAuthenticationConverter(converter)))
        .build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http) throws Exception {
    return http
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(login -> {})
        .build();
  }

  static final class RealmRoles implements Converter<Jwt, Collection<GrantedAuthority>> {
    @Override
    public Collection<GrantedAuthority> convert(Jwt token) {
      Map<String, List<String>> access = token.getClaim("realm_access");
      return access.get("roles").stream()
          .<GrantedAuthority>map(role -> new SimpleGrantedAuthority("ROLE_" + role))
          .toList();
    }
  }
}
