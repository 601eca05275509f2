package crd

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
)

// A source is read token by token: the types of a file, their fields and comments. go/parser
// would do, at 300 KB more in every program that derives a definition; a test compares the two.

// typeDoc is a declared type. Comments are kept as they are: what they say beside the
// description is for others to read.
type typeDoc struct {
	comment *ast.CommentGroup
	// fields holds the comments of a struct's fields by name; embedded fields go by their
	// type. nil where the type is not a struct.
	fields map[string]*ast.CommentGroup
}

// sourceReader reads one Go file. Files that are part of a program are well-formed, so it is
// strict only where it would lose its way.
type sourceReader struct {
	scanner scanner.Scanner
	file    *token.File
	types   map[string]*typeDoc
	faults  scanner.ErrorList

	pos token.Pos
	tok token.Token
	lit string
	// lead is the comment that ends on the line before the present token.
	lead *ast.CommentGroup
}

// readSource returns the name of the package and the types that a file declares.
func readSource(name string, text []byte) (packageName string, types map[string]*typeDoc, err error) {
	r := &sourceReader{file: token.NewFileSet().AddFile(name, -1, len(text)), types: map[string]*typeDoc{}}
	r.scanner.Init(r.file, text, r.faults.Add, scanner.ScanComments)
	r.next()
	r.expect(token.PACKAGE)
	packageName = r.expect(token.IDENT)
	r.end(token.EOF)
	for r.tok != token.EOF {
		r.declaration()
	}
	return packageName, r.types, r.faults.Err()
}

// next goes to the next token that is not a comment, and keeps the comment before it.
func (r *sourceReader) next() {
	before := r.pos
	r.lead = nil
	if len(r.faults) > 0 {
		r.tok = token.EOF // one fault ends the file
		return
	}
	r.pos, r.tok, r.lit = r.scanner.Scan()
	if r.tok == token.COMMENT && before.IsValid() && r.line(r.pos) == r.line(before) {
		r.comments(0) // it stands behind the token before, and is about that
	}
	for r.tok == token.COMMENT {
		group, end := r.comments(1)
		if r.tok != token.COMMENT && end+1 == r.line(r.pos) {
			r.lead = group
		}
	}
}

// comments reads comments that follow each other with at most gap line breaks between them.
func (r *sourceReader) comments(gap int) (group *ast.CommentGroup, end int) {
	group = &ast.CommentGroup{}
	end = r.line(r.pos)
	for r.tok == token.COMMENT && r.line(r.pos) <= end+gap {
		comment := &ast.Comment{Slash: r.pos, Text: r.lit}
		group.List = append(group.List, comment)
		end = r.line(r.pos)
		for _, c := range r.lit {
			if c == '\n' {
				end++
			}
		}
		r.pos, r.tok, r.lit = r.scanner.Scan()
	}
	return group, end
}

func (r *sourceReader) line(pos token.Pos) int { return r.file.PositionFor(pos, false).Line }

func (r *sourceReader) expect(tok token.Token) (lit string) {
	lit = r.lit
	if r.tok != tok && len(r.faults) == 0 {
		r.faults.Add(r.file.Position(r.pos), fmt.Sprintf("expected '%s', found '%s'", tok, r.tok))
	}
	r.next()
	return lit
}

// declaration reads a declaration of the file, of which only types matter.
func (r *sourceReader) declaration() {
	doc := r.lead
	if r.tok != token.TYPE {
		r.skip()
		r.end(token.EOF)
		return
	}
	r.next()
	if r.tok != token.LPAREN {
		r.typeSpec(doc)
		r.end(token.EOF)
		return
	}
	for r.next(); r.tok != token.RPAREN && r.tok != token.EOF; r.end(token.RPAREN) {
		r.typeSpec(r.lead)
	}
	r.expect(token.RPAREN)
	r.end(token.EOF)
}

// skip goes on to the end of a declaration, a specification or a field: the next semicolon, or
// the bracket that closes what it stands in.
func (r *sourceReader) skip() {
	for {
		switch r.tok {
		case token.SEMICOLON, token.RPAREN, token.RBRACK, token.RBRACE, token.EOF:
			return
		case token.LPAREN, token.LBRACK, token.LBRACE:
			r.brackets()
		default:
			r.next()
		}
	}
}

// brackets goes on to behind the bracket that closes the present one.
func (r *sourceReader) brackets() {
	for depth := 0; ; {
		switch r.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.EOF:
			r.expect(token.RBRACE)
			return
		}
		r.next()
		if depth == 0 {
			return
		}
	}
}

// end reads the semicolon that ends something, which may be missing before closing.
func (r *sourceReader) end(closing token.Token) {
	if r.tok != closing {
		r.expect(token.SEMICOLON)
	}
}

// typeSpec reads what follows the word type: a name, perhaps type parameters, and a type. An
// array of structs passes for a struct; as no struct type has its name, nobody asks.
func (r *sourceReader) typeSpec(doc *ast.CommentGroup) {
	declared := &typeDoc{comment: doc}
	r.types[r.expect(token.IDENT)] = declared
	if r.tok == token.LBRACK {
		r.brackets()
	}
	if r.tok == token.ASSIGN {
		r.next()
	}
	if r.tok == token.STRUCT {
		r.next()
		declared.fields = r.structFields()
	}
	r.skip()
}

func (r *sourceReader) structFields() map[string]*ast.CommentGroup {
	fields := map[string]*ast.CommentGroup{}
	r.expect(token.LBRACE)
	for ; r.tok != token.RBRACE && r.tok != token.EOF; r.end(token.RBRACE) {
		doc := r.lead
		for _, name := range r.fieldNames() {
			fields[name] = doc
		}
		r.skip()
	}
	r.expect(token.RBRACE)
	return fields
}

// fieldNames reads the names of a field. That of an embedded field is the name of its type.
func (r *sourceReader) fieldNames() []string {
	if r.tok == token.MUL {
		r.next()
	}
	names := []string{r.expect(token.IDENT)}
	for r.tok == token.COMMA {
		r.next()
		names = append(names, r.expect(token.IDENT))
	}
	if r.tok == token.PERIOD {
		r.next()
		names = []string{r.expect(token.IDENT)}
	}
	return names
}
