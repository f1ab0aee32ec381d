/** The layout shows a new chat here. */
export default function NewChat() {
  return null
}
