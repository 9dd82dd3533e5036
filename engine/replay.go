package engine

import (
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parlance-llm/parlance/internal/stops"
)

//go:embed recordings/*.json
var bundled embed.FS

// Bundled are the recordings that come with the binary, and that the replay engine plays when it is given none.
func Bundled() []RecordedModel {
	files, err := fs.Sub(bundled, "recordings")
	if err != nil {
		panic("engine: the recordings are not embedded: " + err.Error())
	}
	models, err := LoadRecordings(files)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return models
}

// replay answers with recordings. It takes every constraint, and obeys none: what was recorded is played.
type replay struct {
	models       []replayModel
	standard     string
	speed        float64
	capabilities Capabilities
}

type replayModel struct {
	RecordedModel
	// turn counts the requests that several recordings fit alike.
	turn *atomic.Uint64
}

func openReplay(o Options) (Engine, error) {
	models := Bundled()
	if o.Recordings != nil {
		var err error
		if models, err = LoadRecordings(o.Recordings); err != nil {
			return nil, err
		}
	}
	r := &replay{standard: o.Model, speed: o.ReplaySpeed, capabilities: Capabilities{
		Constraints:            []Dialect{StructuralTag, GBNF, EBNF, Lark, JSONSchema, JSONObject, Regex, Choice},
		ConstraintAfterThought: true, LazyConstraints: true, SpecialTokens: SpecialTokensKept, Renders: true, StopTokens: true, IncludeStop: true,
		ThinkingBudget: true,
	}}
	if r.speed == 0 {
		r.speed = 1
	}
	for _, model := range models {
		r.models = append(r.models, replayModel{model, new(atomic.Uint64)})
		for _, recording := range model.Recordings {
			for _, piece := range recording.Pieces {
				r.capabilities.TokenIDs = r.capabilities.TokenIDs || len(piece.Tokens) > 0
				r.capabilities.Logprobs = r.capabilities.Logprobs || len(piece.Logprobs) > 0
				for _, logprob := range piece.Logprobs {
					r.capabilities.MaxTopLogprobs = max(r.capabilities.MaxTopLogprobs, len(logprob.Top))
				}
			}
		}
	}
	if r.standard == "" {
		r.standard = r.models[0].Model
	} else if _, err := r.model("open", r.standard); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *replay) Name() string                 { return "replay" }
func (r *replay) Capabilities() Capabilities   { return r.capabilities }
func (r *replay) Health(context.Context) error { return nil }
func (r *replay) Close() error                 { return nil }

// model finds a model by its name.
func (r *replay) model(op, name string) (*replayModel, error) {
	if name == "" {
		name = r.standard
	}
	var known []string
	for i := range r.models {
		if r.models[i].Model == name {
			return &r.models[i], nil
		}
		known = append(known, r.models[i].Model)
	}
	return nil, &Error{Kind: Refused, Engine: "replay", Op: op, Status: http.StatusNotFound, Type: "NotFoundError", Param: "model",
		Message: "there are recordings of " + strings.Join(known, ", ") + ", none of " + name}
}

func (r *replay) Models(context.Context) ([]Model, error) {
	var models []Model
	for _, model := range r.models {
		listed := Model{ID: model.Model, MaxTokens: model.MaxModelLen, OwnedBy: "replay",
			ToolCallParser: model.ToolCallParser, ReasoningParser: model.ReasoningParser}
		if model.Model == r.standard {
			models = slices.Insert(models, 0, listed)
		} else {
			models = append(models, listed)
		}
	}
	return models, nil
}

func (r *replay) ApplyTemplate(_ context.Context, c *Conversation) (Prompt, error) {
	const op = "apply template"
	model, err := r.model(op, c.Model)
	if err != nil {
		return Prompt{}, err
	}
	if c.Template != "" {
		return Prompt{}, unsupported("replay", op, "chat_template", "recordings have no use for a template")
	}
	if err := textOnly("replay", c.Messages); err != nil {
		return Prompt{}, err
	}
	transcript := model.Transcript
	if transcript == nil {
		transcript = &plainTranscript
	}
	text, err := transcript.write(c)
	if err != nil {
		return Prompt{}, &Error{Kind: Refused, Engine: "replay", Op: op, Status: http.StatusBadRequest, Param: "messages", Message: err.Error(), Err: err}
	}
	return Prompt{Text: text}, nil
}

func (r *replay) Template(context.Context, string) (Template, error) {
	return Template{}, unsupported("replay", "template", "", "recordings have no chat template")
}

func (r *replay) Tokenize(context.Context, string, string, bool) ([]Token, error) {
	return nil, unsupported("replay", "tokenize", "", "recordings have no tokenizer")
}

func (r *replay) Detokenize(context.Context, string, []int) (string, error) {
	return "", unsupported("replay", "detokenize", "", "recordings have no tokenizer")
}

func (r *replay) Generate(ctx context.Context, request *Request) (Stream, error) {
	model, err := r.model("generate", request.Model)
	if err != nil {
		return nil, err
	}
	if err := r.capabilities.check("replay", request); err != nil {
		return nil, err
	}
	set, err := stops.Compile(request.Stop)
	if err != nil {
		return nil, &Error{Kind: Refused, Engine: "replay", Op: "generate", Status: http.StatusBadRequest, Param: "stop", Message: err.Error(), Err: err}
	}
	recording := model.choose(request)
	if recording == nil {
		return nil, &Error{Kind: Refused, Engine: "replay", Op: "generate", Status: http.StatusNotFound, Type: "NotFoundError",
			Message: "no recording of " + model.Model + " fits the prompt"}
	}
	return begin(&replayStream{
		ctx: ctx, request: request, recording: recording, pieces: recording.pieces(), speed: r.speed, stops: set.Matcher(),
		closed: make(chan struct{}),
	})
}

// choose finds the recording for a request: one with exactly its prompt; else one whose texts the prompt contains, the one
// that stands last if there are several, since the last message decides; else one that says nothing. Of those that fit
// alike the seed chooses, or their turn.
func (m *replayModel) choose(request *Request) *Recording {
	var fit []*Recording
	best := -1
	for i := range m.Recordings {
		recording := &m.Recordings[i]
		rank := recording.Match.rank(request)
		if rank < 0 || rank < best {
			continue
		}
		if rank > best {
			fit, best = nil, rank
		}
		fit = append(fit, recording)
	}
	if len(fit) == 0 {
		return nil
	}
	if seed := request.Sampling.Seed; seed != nil {
		return fit[uint64(*seed)%uint64(len(fit))]
	}
	if len(fit) == 1 {
		return fit[0]
	}
	return fit[(m.turn.Add(1)-1)%uint64(len(fit))]
}

// rank tells how well a request fits, less than zero if it does not: by how far back in the prompt the last thing asked for
// stands, then by what else is asked for.
func (m *RecordingMatch) rank(request *Request) int {
	prompt := request.Prompt.Text
	if m.Constrained != nil && *m.Constrained != (request.Constraint != nil) || !strings.HasSuffix(prompt, m.Ends) {
		return -1
	}
	place := 0
	if m.Prompt != "" {
		if m.Prompt != prompt {
			return -1
		}
		place = len(prompt) + 1
	}
	for _, text := range m.Contains {
		at := strings.LastIndex(prompt, text)
		if at < 0 {
			return -1
		}
		place = max(place, at+len(text))
	}
	rank := 4 * place
	if m.Ends != "" {
		rank += 2
	}
	if m.Constrained != nil {
		rank++
	}
	return rank
}

// replayStream plays a recording.
type replayStream struct {
	ctx       context.Context
	request   *Request
	recording *Recording
	pieces    []RecordedPiece
	speed     float64
	stops     *stops.Matcher
	closed    chan struct{}
	close     sync.Once
	played    int // tokens
	over      bool
}

func (s *replayStream) Next() (Piece, error) {
	if s.over {
		return Piece{}, io.EOF
	}
	if len(s.pieces) == 0 {
		return s.end()
	}
	recorded := s.pieces[0]
	tokens := max(1, len(recorded.Tokens))
	if s.request.MaxTokens > 0 && s.played+tokens > s.request.MaxTokens {
		return s.finish(s.stops.Flush(), Piece{Finish: FinishLength})
	}
	if err := s.sleep(recorded.wait(s.speed)); err != nil {
		return Piece{}, err
	}
	s.pieces = s.pieces[1:]
	s.played += tokens
	var piece Piece
	if s.request.TokenIDs {
		piece.Tokens = recorded.Tokens
	}
	if s.request.PromptTokenIDs && s.played == tokens {
		piece.PromptTokens = s.recording.PromptTokens
	}
	if s.request.Logprobs {
		piece.Logprobs = recorded.Logprobs
	}
	text := recorded.Text
	if recorded.Special && s.request.SkipSpecialTokens {
		text = ""
	}
	for _, token := range recorded.Tokens {
		if slices.Contains(s.request.StopTokens, token) {
			piece.Finish, piece.StopToken = FinishStop, &token
			if !s.request.IncludeStop {
				text = ""
			}
			before, stop := s.stops.Write(text)
			return s.finish(before+stop+s.stops.Flush(), piece)
		}
	}
	text, stop := s.stops.Write(text)
	if stop != "" {
		piece.Finish, piece.StopString = FinishStop, stop
		if s.request.IncludeStop {
			text += stop
		}
		return s.finish(text, piece)
	}
	piece.Text = text
	return piece, nil
}

// end is what comes behind the pieces.
func (s *replayStream) end() (Piece, error) {
	recorded := s.recording
	if failed := recorded.Error; failed != nil {
		if err := s.sleep(RecordedPiece{WaitMS: failed.WaitMS}.wait(s.speed)); err != nil {
			return Piece{}, err
		}
		if held := s.stops.Flush(); held != "" {
			return Piece{Text: held}, nil
		}
		s.over = true
		err := &Error{Kind: Broken, Engine: "replay", Op: "generate", Message: failed.Message, Type: failed.Type, Started: s.played > 0}
		if failed.Status != 0 {
			err.Kind, err.Status = kindOf(failed.Status), failed.Status
		} else {
			err.Err = io.ErrUnexpectedEOF
		}
		return Piece{}, err
	}
	piece := Piece{Finish: recorded.FinishReason, StopString: recorded.StopString, StopToken: recorded.StopToken}
	if piece.Finish == "" {
		piece.Finish = FinishStop
	}
	return s.finish(s.stops.Flush(), piece)
}

// finish is the last piece.
func (s *replayStream) finish(text string, piece Piece) (Piece, error) {
	s.over = true
	piece.Text = text
	usage := Usage{CompletionTokens: s.played}
	if recorded := s.recording.Usage; recorded != nil {
		usage.PromptTokens, usage.CachedTokens = recorded.PromptTokens, recorded.CachedTokens
		if len(s.pieces) == 0 {
			usage.CompletionTokens = recorded.CompletionTokens
		}
	} else {
		usage.PromptTokens, usage.Estimated = (len(s.request.Prompt.Text)+3)/4, true
	}
	piece.Usage = &usage
	return piece, nil
}

// sleep waits as the recording did.
func (s *replayStream) sleep(d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
		case <-s.closed:
			s.over = true
			return &Error{Kind: Canceled, Engine: "replay", Op: "generate", Started: s.played > 0, Err: errors.New("the stream was closed")}
		}
	}
	if err := s.ctx.Err(); err != nil {
		s.over = true
		return &Error{Kind: Canceled, Engine: "replay", Op: "generate", Started: s.played > 0, Err: err}
	}
	return nil
}

func (s *replayStream) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}
