// Surface: a canvas as wide as its place, sharp on every screen, drawn at most once per frame. What is taller than its
// place scrolls: the canvas stays in view, and `top` says how far the drawing is moved up.

export class Surface {
  readonly canvas = document.createElement("canvas");
  readonly context: CanvasRenderingContext2D;
  readonly scroller = document.createElement("div");
  width = 0; // CSS pixels
  height = 0;
  ratio = 1;
  private readonly spacer = document.createElement("div");
  private readonly frame = document.createElement("div");
  private waiting = false;
  private readonly gone = new AbortController();

  // `wanted` is the height of the whole drawing, `most` of what is seen at once.
  constructor(
    host: Element,
    label: string,
    private wanted: number,
    private readonly most: number,
    private readonly draw: () => void
  ) {
    this.context = this.canvas.getContext("2d")!;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    this.canvas.tabIndex = 0;
    this.scroller.className = "scroller";
    this.frame.className = "frame";
    this.spacer.className = "spacer";
    this.frame.append(this.canvas);
    this.scroller.append(this.frame, this.spacer);
    host.append(this.scroller);
    this.setHeight(wanted);
    this.scroller.addEventListener("scroll", () => this.request());
    const resizes = new ResizeObserver(() => this.resize());
    resizes.observe(this.scroller);
    const { signal } = this.gone;
    signal.addEventListener("abort", () => resizes.disconnect());
    window.addEventListener("beforeprint", () => this.redraw(), { signal });
    window.addEventListener("afterprint", () => this.request(), { signal });
    document.addEventListener("themechange", () => this.request(), { signal });
    this.resize();
  }

  // Lets go of window and document, for a page that puts another chart in this one's place.
  dispose(): void {
    this.gone.abort();
  }

  get top(): number {
    return this.scroller.scrollTop;
  }

  setHeight(wanted: number): void {
    this.wanted = wanted;
    this.height = Math.min(wanted, this.most);
    this.scroller.style.height = `${this.height}px`;
    this.spacer.style.height = `${wanted}px`;
    this.resize();
  }

  request(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.redraw());
  }
  // At once: for the first picture, and for print.
  redraw(): void {
    this.waiting = false;
    if (this.width <= 0) return;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.draw();
  }

  // So that rows from `y` to `y + height` of the drawing are in view.
  reveal(y: number, height: number): void {
    if (this.wanted <= this.most) return;
    if (y < this.top) this.scroller.scrollTop = y;
    else if (y + height > this.top + this.height) this.scroller.scrollTop = y + height - this.height;
  }

  private resize(): void {
    const width = this.scroller.clientWidth;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    if (width === 0) return;
    const wide = Math.round(width * ratio);
    const high = Math.round(this.height * ratio);
    if (wide === this.canvas.width && high === this.canvas.height) return;
    this.width = width;
    this.ratio = ratio;
    this.canvas.width = wide;
    this.canvas.height = high;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.redraw();
  }
}
