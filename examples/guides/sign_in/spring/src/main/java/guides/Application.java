package guides;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A web application in Spring Boot that signs people in and out (OIDC Core §3.1, RFC 7636): mvn spring-boot:run */
@RestController
@SpringBootApplication
public class Application {
  public static void main(String[] arguments) {
    SpringApplication.run(Application.class, arguments);
  }

  @GetMapping("/")
  Map<String, String> person(@AuthenticationPrincipal OidcUser person) {
    return Map.of("subject", person.getSubject(), "name", person.getFullName(), "signOut", "/logout");
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var requests = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
    requests.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
    // After the click on the page /logout, at the service, too (RP-Initiated Logout 1.0 §2).
    var signedOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signedOut.setPostLogoutRedirectUri("{baseUrl}/");
    return http
        .authorizeHttpRequests(every -> every.anyRequest().authenticated())
        .oauth2Login(login -> login
            .redirectionEndpoint(callback -> callback.baseUri("/callback"))
            .authorizationEndpoint(endpoint -> endpoint.authorizationRequestResolver(requests)))
        .logout(logout -> logout.logoutSuccessHandler(signedOut))
        .build();
  }
}
