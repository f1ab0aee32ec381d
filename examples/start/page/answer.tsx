import Markdown from 'markdown-to-jsx/react'

/** The Markdown of an answer. HTML in it stays text, and a picture is a link: loading it tells its server who reads. */
export const Answer = ({ text }: { readonly text: string }) => (
  <Markdown options={{ disableParsingRawHTML: true, forceBlock: true, overrides: { img: Picture } }}>
    {text}
  </Markdown>
)

const Picture = ({ src, alt }: { readonly src?: string; readonly alt?: string }) => (
  <a href={src}>{alt || src}</a>
)
