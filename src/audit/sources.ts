/** A section of an RFC. */
export const rfc = (number: number, section: string): string =>
  `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`

/** An issue or discussion, by its path on GitHub, such as `honojs/node-server/issues/246`. */
export const github = (path: string): string => `https://github.com/${path}`

/** The HTML standard on event streams. */
export const sse = (section?: string): string =>
  `https://html.spec.whatwg.org/multipage/server-sent-events.html${section ? `#${section}` : ''}`

export const CSRF =
  'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html'
